"""Draw the picture of README.md after `make site`: figures/theatre.webp."""

import io
import shutil

import inputs
from PIL import Image
from playwright.sync_api import sync_playwright

from anonpaper.files import write_whole

#: Shown are the sentence of the step, the people, and what is believed: they read on a phone.
LEFT_OUT = "h1, h2, #parameters, .controls, #code, #numbers, #groups, #edit, details"
STYLE = f"{LEFT_OUT}, .belief + .belief {{ display: none }}"
STYLE += "#say { min-height: 7.8rem } #attacked { min-height: 8rem }"  # nothing jumps


def film() -> bytes:
    """Play the theatre's page on TP, with Bob attacked at each step, as an animated picture."""
    place = inputs.ROOT / "build" / "site" / "theatre" / "xiao2010.html"
    frames, stream = [], io.BytesIO()
    with sync_playwright() as playwright:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        look = {"viewport": {"width": 420, "height": 690}, "device_scale_factor": 2}
        page = browser.new_page(**look, reduced_motion="reduce", bypass_csp=True)
        page.goto(f"{place.as_uri()}?embed#l=2&step=1&person=Bob")
        page.locator("#ask").uncheck()
        page.add_style_tag(content=STYLE)
        page.mouse.move(0, 0)  # a row below the pointer would be marked
        for _ in range(int(page.locator("#scrub").get_attribute("max")) + 1):
            frames.append(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))
            page.keyboard.press("ArrowRight")
    lasting = [2500] * (len(frames) - 1) + [5000]
    options = {"save_all": True, "append_images": frames[1:], "loop": 3, "duration": lasting}
    frames[0].save(stream, "WEBP", method=6, **options)
    return stream.getvalue()


if __name__ == "__main__":
    write_whole(inputs.FIGURES / "theatre.webp", film())
