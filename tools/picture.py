"""Draw the picture of README.md after `make site`: figures/theatre.webp."""

import io
import shutil

import inputs
from PIL import Image
from playwright.sync_api import sync_playwright

from anonpaper.files import write_whole


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
    write_whole(inputs.FIGURES / "theatre.webp", film())
