"""Names of browsers, and what a reader could trip over in a page."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PHONE = {"width": 390, "height": 844}
LEAST_TEXT = 14  # pixels

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
  const wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) faults.push("wider than the screen by " + wide);
  const formulas = document.querySelectorAll(".math");
  if (formulas.length && !document.querySelector("mjx-container")) faults.push("no maths");
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const small = new Set();
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.data.trim() || !shown(text)) continue;
    const parent = text.parentElement;
    if (parent.closest("mjx-container, svg, script, style, sub, sup")) continue;
    if (!parent.closest("pre, code") && /\\\\\\(|\\\\\\)|\\\\\\[|\\$\\$/.test(text.data))
      faults.push("raw maths: " + text.data.trim().slice(0, 60));
    const size = parseFloat(getComputedStyle(parent).fontSize);
    if (size < LEAST) small.add(parent.tagName + "." + parent.className + " " + size + "px: "
                                + text.data.trim().slice(0, 30));
  }
  return [...faults, ...[...small].slice(0, 5)];
}""".replace("LEAST", str(LEAST_TEXT - 0.01))
