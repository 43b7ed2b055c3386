"""Draw the pictures of README.md: before_and_after.png and, after `make site`, theatre.webp."""

import io
import shutil

import inputs
import pandas as pd
from PIL import Image
from playwright.sync_api import sync_playwright

import anonpaper as ap
from anonpaper import plots
from anonpaper.compendium import reference
from anonpaper.files import write_whole


def picture() -> bytes:
    """Draw people of Adult before and after, and a published figure beside ours, as png."""
    plots.use_style()
    figure, (left, right) = plots.subplots(columns=2, cols=2, height=3.1)
    m = ap.load("adult")
    columns = [*m.qi, m.sensitive]
    for top, title, frame in (
        (0.99, "Before: the first six people of Adult", m.frame),
        (0.43, "After TP+ with l = 4", ap.suppress(m, ap.tp_plus(m, l=4)).frame),
    ):
        left.text(0, top, title, fontsize=9, va="center", transform=left.transAxes)
        rows = frame[columns].head(6).astype(str).to_numpy()
        drawn = left.table(rows, colLabels=columns, bbox=(0, top - 0.47, 1, 0.43), edges="B")
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(7)
        drawn.auto_set_column_width(range(len(columns)))
        for (row, _), cell in drawn.get_celld().items():
            cell.set_edgecolor("0.8")
            cell.set_text_props(ha="left", weight="bold" if row == 0 else "normal")
            cell.PAD = 0.02
    left.set_axis_off()

    x, y = "selectivity, %", "relative error, %"
    ours = pd.read_csv(inputs.FIGURES / "paper/boger2020/figures_9_to_12.csv")
    ours = ours[ours["varied"] == "education"]
    theirs = reference("boger2020_fig9-12_relative_error").query("varied_qi == 'education'")
    theirs = theirs.rename(columns={"selectivity_pct": x, "relative_error_pct": y})
    names = [*ours["table"].unique()]  # in the order, and so the colours, of Figures 9 to 12
    plots.lines(right, ours, x, y, "table", order=names, spread="quartiles")
    plots.published(right, theirs, x, y, "table", order=names)
    right.set_title("Figure 10 of boger2020, published and ours", fontsize=9)
    right.legend(loc="upper left", fontsize=7)
    return plots.render(figure)


def film() -> bytes:
    """Play the theatre's page on TP from its first step to the attack, as an animated picture."""
    place = inputs.ROOT / "build" / "site" / "theatre" / "xiao2010.html"
    frames, stream = [], io.BytesIO()
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1240, "height": 820}, reduced_motion="reduce")
        page.goto(f"{place.as_uri()}?embed#l=2&step=1&person=Bob")
        for _ in range(int(page.locator("#scrub").get_attribute("max")) + 1):
            frame = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
            frames.append(frame.resize((930, 615), Image.Resampling.LANCZOS))
            page.keyboard.press("ArrowRight")
    lasting = [1500] * (len(frames) - 1) + [4000]
    options = {"save_all": True, "append_images": frames[1:], "loop": 0, "duration": lasting}
    frames[0].save(stream, "WEBP", method=6, **options)
    return stream.getvalue()


if __name__ == "__main__":
    write_whole(inputs.FIGURES / "before_and_after.png", picture())
    write_whole(inputs.FIGURES / "theatre.webp", film())
