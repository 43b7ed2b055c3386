// Sphinx's own scores, and lessons before all else: whoever searches for an idea wants it explained.
// Whoever names a figure or table and a paper wants that paper's page of verdicts.
const QUERY = (new URLSearchParams(location.search).get("q") ?? "").toLowerCase();
const OF_PAPER = /\b(figure|table|section|equation|theorem|algorithm)\b/.test(QUERY);

var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    const named = title.toLowerCase().split(/\W+/).some(word => word.length > 3 && QUERY.includes(word));
    if (OF_PAPER && named && page.startsWith("figures/")) return score + 2000;
    return page.startsWith("notebooks/course/") ? score + 1000 : score;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
