// @ts-check
// CSS selectors through shadow roots: a descendant combinator may cross from a host into its tree, the rest may not.

/**
 * Every element a selector matches, in reading order.
 * @param {string} selector
 * @returns {Element[] | undefined} undefined where it is no valid selector
 */
function selectAll(selector) {
  let complex;
  try {
    const plain = Array.from(dom.queryAll(document, selector));
    const inner = allRoots().filter((root) => root !== document);
    if (!inner.length) return plain;
    complex = splitSelector(selector);
    const found = new Set(plain);
    for (const root of inner) {
      for (const el of dom.queryAll(root, selector)) found.add(el);
      for (const parts of complex) {
        for (let k = 1; k < parts.length; k++) {
          const outer = parts.slice(0, k);
          for (const el of dom.queryAll(root, parts.slice(k).join(' '))) {
            if (!found.has(el) && standsUnder(dom.hostOf(/** @type {ShadowRoot} */ (root)), outer)) found.add(el);
          }
        }
      }
    }
    return Array.from(found).sort(byTreeOrder);
  } catch {
    return undefined;
  }
}

/**
 * Whether `el` or an element around it, through hosts, matches the descendant-joined parts.
 * @param {Element | null} el
 * @param {string[]} parts
 * @returns {boolean}
 */
function standsUnder(el, parts) {
  for (let at = el; at; at = elementAbove(at)) {
    if (dom.matches(at, parts.join(' '))) return true;
    for (let k = 1; k < parts.length; k++) {
      if (dom.matches(at, parts.slice(k).join(' ')) && standsUnder(hostAbove(at), parts.slice(0, k))) return true;
    }
  }
  return false;
}

/**
 * A selector list as complex selectors, each split at its descendant combinators. Only for selectors that parse.
 * @param {string} selector
 * @returns {string[][]}
 */
function splitSelector(selector) {
  /** @type {string[][]} */
  const list = [[]];
  let part = '', depth = 0, quote = '';
  const flush = () => { if (part) list[list.length - 1].push(part); part = ''; };
  for (let i = 0; i < selector.length; i++) {
    const c = selector[i];
    if (c === '\\') { part += c + (selector[++i] ?? ''); continue; }
    if (quote) { if (c === quote) quote = ''; part += c; continue; }
    if (c === '"' || c === "'") quote = c;
    else if (c === '(' || c === '[') depth++;
    else if (c === ')' || c === ']') depth--;
    else if (depth === 0 && c === ',') { flush(); list.push([]); continue; }
    else if (depth === 0 && /\s/.test(c)) {
      // Blank space around `>`, `+`, `~` is no combinator of its own.
      const after = selector.slice(i).trimStart()[0] ?? '';
      if (!/[>+~]/.test(after) && !/[>+~]$/.test(part.trimEnd())) flush();
      else if (part && !/\s$/.test(part)) part += ' ';
      continue;
    }
    part += c;
  }
  flush();
  return list.filter((parts) => parts.length);
}
