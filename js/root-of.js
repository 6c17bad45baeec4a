// @ts-check
// The `root` of a call that looks: an element by ref or selector.

/**
 * The element a call looks at, or why there is none.
 * @param {{root?: {ref?: number, selector?: string} | null} & Partial<Lease>} args
 * @returns {Element | {error: string, message: string, hint: string, data: unknown}}
 */
function rootOfArgs(args) {
  const { root } = args;
  if (!root) {
    const whole = dom.rootElement(document);
    return whole ?? { error: 'not_found', message: 'the document is empty', hint: 'wait for it to load', data: {} };
  }
  if (root.ref !== undefined) {
    const el = elementOf(root.ref);
    if (el) return el;
    const was = rememberedOf(root.ref);
    const what = was ? ` (${was.role} ${JSON.stringify(cutTo(was.name, 80))})` : '';
    return { error: 'stale_ref', message: `${args.prefix ?? 'n'}${root.ref}${what} is no longer in the page`, hint: 'read again', data: { why: 'removed' } };
  }
  const selector = root.selector ?? '';
  /** @type {Element[]} */
  let found;
  try {
    found = [...dom.queryAll(document, selector)];
  } catch {
    return { error: 'bad_request', message: `root: ${JSON.stringify(cutTo(selector, 80))} is no CSS selector`, hint: 'give a valid selector or a ref', data: { argument: 'root' } };
  }
  if (found.length === 0) found = queryShadows(selector);
  if (found.length === 1) return found[0];
  if (found.length === 0) return { error: 'not_found', message: `no element matches ${JSON.stringify(cutTo(selector, 80))}`, hint: 'read without root to see what is there', data: {} };
  const lease = /** @type {Lease} */ (args);
  const candidates = found.slice(0, 5).map((el) => describe(el, lease));
  return {
    error: 'ambiguous', message: `${found.length} elements match ${JSON.stringify(cutTo(selector, 80))}`, hint: 'use one of the refs',
    data: { count: found.length, candidates, next: lease.next },
  };
}

/** What matches within shadow roots we can see. @param {string} selector @returns {Element[]} */
function queryShadows(selector) {
  /** @type {Element[]} */
  const found = [];
  /** @type {Node[]} */
  const roots = [document];
  for (let root = roots.pop(); root; root = roots.pop()) {
    for (const el of dom.queryAll(root, '*')) {
      const inner = shadowOf(el);
      if (!inner) continue;
      found.push(...dom.queryAll(inner, selector));
      roots.push(inner);
    }
  }
  return found;
}
