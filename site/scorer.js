// Sphinx's own scores, and lessons before all else: whoever searches for an idea wants it explained.
var Scorer = {
  score: ([page, title, anchor, description, score]) =>
    page.startsWith("notebooks/course/") ? score + 1000 : score,
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
