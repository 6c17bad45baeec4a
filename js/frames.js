// @ts-check
// What stands behind elements of this document that no script of it can look into: frames and closed shadow roots.

/** @type {WeakMap<Element, number>} */
const frameNumbers = new WeakMap();
/** Elements that were looked into and host no closed shadow root. @type {WeakSet<Element>} */
const plainHosts = new WeakSet();
/** Elements without a hyphen that may host a shadow root (DOM 4.8, attachShadow). @type {Set<string>} */
const SHADOW_HOSTS = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p',
  'section', 'span']);
/** More candidates than this are not looked into at once. */
const MAX_CANDIDATES = 200;

/**
 * Tells which frame (`fN` of the daemon) an element holds.
 * @param {Element} el
 * @param {number} frame
 */
function adoptFrame(el, frame) {
  frameNumbers.set(el, frame);
  return {};
}

/**
 * Whether an element may host a closed shadow root we have not seen: a defined custom element without any root we know,
 * or an element without children that takes up room nevertheless.
 * @param {Facts} f
 */
function mayHideRoot(f) {
  const custom = f.tag.includes('-');
  if (!custom && !SHADOW_HOSTS.has(f.tag)) return false;
  if (!custom && dom.firstChild(f.el)) return false;
  if (plainHosts.has(f.el) || shadowOf(f.el)) return false;
  if (custom) return dom.matches(f.el, ':defined') || !dom.firstChild(f.el);
  const rect = dom.rectOf(f.el);
  return rect.width >= 16 && rect.height >= 10;
}

/**
 * Elements that may host closed shadow roots, to be looked into by the daemon. Each is named once: a later call names new ones only.
 * @returns {Element[]}
 */
function closedCandidates() {
  /** @type {Element[]} */
  const found = [];
  beginReading();
  try {
    /** @type {Node[]} */
    const roots = [document];
    for (let root = roots.pop(); root; root = roots.pop()) {
      for (const el of dom.queryAll(root, '*')) {
        const inner = shadowOf(el);
        if (inner) roots.push(inner);
        else if (found.length < MAX_CANDIDATES && mayHideRoot(factsOf(el))) {
          found.push(el);
          plainHosts.add(el);
        }
      }
    }
  } finally {
    endReading();
  }
  return found;
}
