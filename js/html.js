// @ts-check
// The page's markup as it stands now, unaltered.

/**
 * `tabd.html({root?, outer?, max_chars, offset})` -> `{html, total_chars, truncated}`: an element with what is in it, only
 * what is in it with `outer:false`, or without a root the whole document and what stands beside its element: doctype and
 * comments. Shadow trees are no part of markup. Errors: `stale_ref not_found ambiguous bad_request`.
 * @param {{root?: {ref?: number, selector?: string} | null, outer?: boolean, max_chars?: number, offset?: number}} args
 * @returns {{html: string, total_chars: number, truncated: boolean} | {error: string}}
 */
function html(args) {
  let whole;
  if (!args.root && args.outer !== false) whole = documentMarkup();
  else {
    const root = rootOfArgs(args);
    if (!(root instanceof Element)) return root;
    whole = args.outer === false ? markup.inner(root) : markup.outer(root);
  }
  const { text, total_chars, truncated } = sliceOf(whole, args.offset ?? 0, args.max_chars ?? 20000);
  return { html: text, total_chars, truncated };
}

const markup = Object.freeze({
  /** @type {(el: Element) => string} */
  outer: getter(Element.prototype, 'outerHTML'),
  /** @type {(el: Element) => string} */
  inner: getter(Element.prototype, 'innerHTML'),
});

/** @returns {string} */
function documentMarkup() {
  const parts = [];
  for (let node = dom.firstChild(document); node; node = dom.nextSibling(node)) {
    parts.push(isElement(node) ? markup.outer(node) : new XMLSerializer().serializeToString(node));
  }
  return parts.join('\n');
}
