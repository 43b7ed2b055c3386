"""Names of browsers, and what a reader could trip over in a page."""

from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

PATIENCE = 120_000  # milliseconds, on a busy machine
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PHONE, SCREEN = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
LEAST_TEXT = 14  # pixels


@contextmanager
def opened(browser, **options):
    """Open an empty page that waits as long as a busy machine takes."""
    with browser.new_context(**options) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


def serious(page):
    """Return what axe finds that some readers could not use."""
    return [
        (rule["id"], [node["html"][:200] for node in rule["nodes"][:3]])
        for rule in Axe().run(page).response["violations"]
        if rule["impact"] in ("serious", "critical")
    ]


# the article of the site scrolls by itself, so what is too wide for it does not make the page
# wider; one pixel is lost in rounding
WIDE = """() => [document.documentElement, document.querySelector(".bd-article-container")]
  .filter(Boolean).map(node => node.scrollWidth - node.clientWidth).filter(wide => wide > 1)
  .map(wide => "wider than the screen by " + wide)"""

# cells of tables with more lines than words: the words are broken
BROKEN = """() => [...document.querySelectorAll("th, td")].filter(cell => {
  const text = document.createRange();
  text.selectNodeContents(cell);
  const lines = new Set([...text.getClientRects()].map(line => Math.round(line.bottom)));
  return !cell.querySelector("math") && lines.size > cell.innerText.split(/\\s+|-/).length;
}).map(cell => cell.innerText)"""

# what a reader could trip over, looked up in the page itself
FAULTS = """async () => {
  if (window.MathJax) await window.MathJax.startup.promise;
  const shown = node => node.parentElement && node.parentElement.checkVisibility();
  const faults = [];
  for (const image of document.images) {
    image.loading = "eager";
    await image.decode().catch(() => {});
    if (!image.naturalWidth) faults.push("no picture: " + image.getAttribute("src"));
  }
  faults.push(...WIDE());
  const formulas = document.querySelectorAll(".math");
  if (formulas.length && !document.querySelector("mjx-container, math")) faults.push("no maths");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.data.trim() || !shown(text)) continue;
    const parent = text.parentElement;
    if (parent.closest("mjx-container, math, svg, script, style, sub, sup")) continue;
    if (!parent.closest("pre, code") && /\\\\\\(|\\\\\\)|\\\\\\[|\\$\\$/.test(text.data))
      faults.push("raw maths: " + text.data.trim().slice(0, 60));
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < LEAST) small.add(parent.tagName + "." + parent.className + " " + size + "px: "
                                + text.data.trim().slice(0, 30));
  }
  return [...faults, ...[...small].slice(0, 5)];
}""".replace("LEAST", str(LEAST_TEXT - 0.01)).replace("WIDE", f"({WIDE})")
