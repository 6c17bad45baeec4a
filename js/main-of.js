// @ts-check
// The main content of a page: what it says is so, else where its paragraphs are.

/**
 * @param {Element} top
 * @returns {Element} `top` itself if nothing in it stands out
 */
function mainOf(top) {
  const marked = [...dom.queryAll(top, 'main, [role=main]')].filter((el) => !isSubtreeHidden(el));
  if (marked.length > 0) return marked[0];
  const articles = [...dom.queryAll(top, 'article, [role=article]')].filter((el) => !isSubtreeHidden(el));
  if (articles.length === 1) return articles[0];
  /** @type {Map<Element, number>} */
  const scores = new Map();
  for (const el of dom.queryAll(top, 'p, pre, blockquote')) {
    const length = dom.textContent(el).trim().length;
    if (length < 25 || isSubtreeHidden(el)) continue;
    const parent = dom.parentElement(el), above = parent && dom.parentElement(parent);
    if (parent) scores.set(parent, (scores.get(parent) ?? 0) + length);
    if (above) scores.set(above, (scores.get(above) ?? 0) + length / 2);
  }
  let best = top, most = 200;
  for (const [el, score] of scores) {
    if (score <= most || !dom.contains(top, el)) continue;
    best = el;
    most = score;
  }
  return best;
}
