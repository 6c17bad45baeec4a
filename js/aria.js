// @ts-check
// What is known of each element during one reading. The page cannot change
// while our code runs, so that everything is computed once, on demand, between
// `beginReading` and `endReading`. Knows nothing of roles or names itself.

/** @typedef {object} Facts
 * @property {Element} el
 * @property {string} tag local name; `svg:` or `math:` before those of SVG and MathML
 * @property {boolean} bare has no attribute
 * @property {Node | null} root tree it stands in, once asked for
 * @property {boolean} plain children in the flat tree are those of the DOM
 * @property {number} skips 1 if its contents are skipped (content-visibility), -1 unknown
 * @property {boolean} hasRole has a `role` attribute
 * @property {boolean} hasAria has an `aria-` attribute
 * @property {boolean} hasTitle has a `title` attribute
 * @property {boolean} hasInert has an `inert` attribute
 * @property {boolean} hasTab has a `tabindex` attribute
 * @property {boolean} hasEditable has a `contenteditable` attribute
 * @property {CSSStyleDeclaration | null} style computed style, once asked for
 * @property {string} display computed, '' until asked for
 * @property {string} visibility computed, '' until asked for
 * @property {number} rendered 1 if rendered, 0 if it is or is in a subtree that is not, -1 unknown
 * @property {number} inherited bits of `ariaInherited`, -1 unknown
 * @property {Facts | null | undefined} up flat tree parent, undefined until asked for
 * @property {string | undefined} role
 * @property {string | undefined} native role without the role attribute
 * @property {string | undefined} name
 * @property {string} nameFrom which step gave the name: '' until computed
 * @property {string | undefined} piece its text within another's name
 */

/** @typedef {object} Reading
 * @property {Map<Element, Facts>} facts
 * @property {Map<Node, Map<Element, Element[]>>} labels per root, labels of each control
 * @property {Owns | null} owns
 * @property {Map<ShadowRoot, Map<Node, Element>>} slots of closed roots
 * @property {Modal | null | undefined} modal the modal dialog that blocks the rest
 * @property {Element | null | undefined} focused
 * @property {CounterValues | null} counters
 * @property {Map<Element, boolean> | null} maps image maps in use
 * @property {Generators | null} generators which elements may have generated content
 */

/** @type {Reading | null} */
let currentReading = null;
let readingDepth = 0;

/** @returns {Reading} */
function newReading() {
  return { facts: new Map(), labels: new Map(), owns: null, slots: new Map(), modal: undefined, focused: undefined, counters: null, maps: null, generators: null };
}

/** Starts remembering; nests. Every call needs its `endReading`. */
function beginReading() {
  if (readingDepth++ === 0 || !currentReading) currentReading = newReading();
}

/** Forgets a reading that was never ended: a script that the browser stops runs no `finally`. For the start of a call. */
function forgetReading() {
  readingDepth = 0;
  currentReading = null;
}

/** Forgets, when the outermost reading ends. */
function endReading() {
  if (readingDepth > 0 && --readingDepth === 0) currentReading = null;
}

/** Runs a question within a reading: the one going on, or one of its own.
 * @template T @param {() => T} ask @returns {T} */
function inReading(ask) {
  if (currentReading) return ask();
  beginReading();
  try {
    return ask();
  } finally {
    endReading();
  }
}

/** The reading going on. Only called within one.
 * @returns {Reading} */
function reading() {
  return /** @type {Reading} */ (currentReading);
}

/** @param {Element} el @returns {Facts} */
function factsOf(el) {
  const facts = reading().facts;
  const known = facts.get(el);
  if (known) return known;
  const made = newFacts(el);
  facts.set(el, made);
  return made;
}

/** Strings as V8 compares them fastest. What the DOM returns is compared letter
 * by letter with each `case`; the same text as a property key by address.
 * @type {Map<string, string>} */
const interned = new Map();

/** @param {string} text a word of a small vocabulary @returns {string} */
function intern(text) {
  const known = interned.get(text);
  if (known !== undefined) return known;
  const key = Object.keys({ [text]: 0 })[0];
  if (interned.size < 2000) interned.set(key, key);
  return key;
}

/** @param {Element} el @returns {Facts} */
function newFacts(el) {
  const ns = dom.namespace(el);
  const local = dom.localName(el);
  const html = ns === HTML_NS;
  const tag = intern(html ? local : ns === SVG_NS ? `svg:${local}` : `math:${local}`);
  /** @type {Facts} */
  const f = {
    el, tag, bare: true, root: null, plain: false, skips: -1,
    hasRole: false, hasAria: false, hasTitle: false, hasInert: false, hasTab: false, hasEditable: false,
    style: null, display: '', visibility: '', rendered: -1, inherited: -1, up: undefined,
    role: undefined, native: undefined, name: undefined, nameFrom: '', piece: undefined,
  };
  f.plain = tag !== 'slot' && !(html && shadowOf(el));
  if (!dom.hasAttrs(el)) return f;
  f.bare = false;
  for (const name of dom.attrNames(el)) {
    switch (intern(name)) {
      case 'class': case 'id': case 'style': case 'href': case 'src':
        break;
      case 'role':
        f.hasRole = true;
        break;
      case 'title':
        f.hasTitle = true;
        break;
      case 'tabindex':
        f.hasTab = true;
        break;
      case 'inert':
        f.hasInert = true;
        break;
      case 'contenteditable':
        f.hasEditable = true;
        break;
      default:
        if (name.startsWith('aria-')) f.hasAria = true;
    }
  }
  return f;
}

/** The facts of the flat tree parent.
 * @param {Facts} f @returns {Facts | null} */
function upOf(f) {
  if (f.up !== undefined) return f.up;
  const node = dom.parentOf(f.el);
  if (node !== null && dom.nodeType(node) === 1) {
    const parent = factsOf(/** @type {Element} */ (node));
    if (parent.plain) {
      if (parent.root) f.root = parent.root;
      return (f.up = parent);
    }
  }
  const parent = flatParent(f.el);
  return (f.up = parent ? factsOf(parent) : null);
}

/** The document or shadow root an element stands in.
 * @param {Facts} f @returns {Node} */
function rootOfFacts(f) {
  return (f.root ??= dom.rootOf(f.el));
}

/** Reads the computed style once.
 * @param {Facts} f @returns {Facts} */
function styled(f) {
  if (f.style) return f;
  const style = dom.styleOf(f.el);
  f.style = style;
  f.display = intern(style.display);
  f.visibility = intern(style.visibility);
  return f;
}

/** The computed style, read once in a reading.
 * @param {Element} el @returns {CSSStyleDeclaration} */
function computedStyleOf(el) {
  return inReading(() => /** @type {CSSStyleDeclaration} */ (styled(factsOf(el)).style));
}

/** The value of an ARIA attribute in lower case, '' if it has none.
 * @param {Facts} f @param {string} name @returns {string} */
function ariaToken(f, name) {
  return f.hasAria ? (dom.attr(f.el, name) ?? '').trim().toLowerCase() : '';
}

/** The element that has the focus, looked up once in a reading.
 * @returns {Element | null} */
function focusedNow() {
  const r = reading();
  return r.focused === undefined ? (r.focused = focusedElement()) : r.focused;
}
