// Under every result of the search the words around what was sought.
document.addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const sought = new URLSearchParams(location.search).get("q");
  if (!results || !sought || !window.TEXTS) return;
  const words = sought.toLowerCase().split(/\s+/).filter(Boolean);
  const around = (text) => {
    const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((at) => at >= 0);
    const from = Math.max(Math.min(...places, text.length) - 80, 0);
    return places.length ? `… ${text.slice(from, from + 220)} …` : "";
  };
  const explain = () => {
    for (const link of results.querySelectorAll("li > a:not([data-excerpt])")) {
      link.dataset.excerpt = "yes";
      const root = document.documentElement.dataset.content_root || "./";
      const page = new URL(link.href).pathname
        .slice(new URL(root, location.href).pathname.length)
        .replace(/\.html$/, "");
      const excerpt = around(window.TEXTS[decodeURIComponent(page)] || "");
      if (!excerpt) continue;
      const line = document.createElement("p");
      line.className = "excerpt";
      line.textContent = excerpt;
      link.after(line);
    }
  };
  new MutationObserver(explain).observe(results, { childList: true, subtree: true });
  explain();
});
