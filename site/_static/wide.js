// Say of what is wider than its column that it moves: a phone shows no scroll bar.
addEventListener("load", () => {
  const boxes = "p:has(img), div.cell_output, div.output, .pst-scrollable-table-container";
  for (const box of document.querySelector("article")?.querySelectorAll(boxes) ?? []) {
    const moves = getComputedStyle(box).overflowX === "auto";
    if (moves && box.scrollWidth > box.clientWidth + 1) box.classList.add("moves");
  }
});
