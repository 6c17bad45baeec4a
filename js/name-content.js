// @ts-check
// Text of an element's content, as it counts in a name (accname 1.2 4.3.2,
// steps 2F to 2H). A loop with its own stack: pages may be thousands of levels
// deep, and nested names must not be computed again at each level.

/** Where a text is being gathered.
 * @typedef {object} Walk
 * @property {Facts} root the element that is being named
 * @property {boolean} byReference within aria-labelledby or aria-describedby, which is followed once
 * @property {boolean} hiddenToo the referenced element is hidden, so that its hidden content counts
 * @property {Facts | null} skip the control whose label is read: it is no part of its own name
 * @property {Set<Facts> | null} visited elements used up by a reference within this name
 * @property {boolean} strict structures within are left out
 * @property {number} left nodes that may still be looked at
 * @property {number} special times something was met that another walk may see differently
 */

/** @typedef {{f: Facts, kids: Node[], next: number, text: string, before: string, special: number}} Frame */

/** Longest text kept of one element. Output cuts at 200; `find` looks at what is
 * cut too. It holds for each level by itself, so that what is inside is known
 * when its turn comes, and no element is gone through twice. */
const NAME_CHARS = 1000;

/** Nodes one walk may look at: what cannot be kept could else cost anew each time. */
const WALK_NODES = 20000;

/** Elements that never are text. @type {Set<string>} */
const NO_TEXT = new Set(['script', 'style', 'template', 'noscript', 'head', 'link', 'meta', 'datalist', 'rt', 'rp', 'param', 'source', 'track', 'wbr', 'hr',
  'svg:script', 'svg:style', 'svg:defs', 'svg:metadata', 'svg:desc', 'svg:title', 'svg:symbol', 'math:annotation', 'math:annotation-xml']);

/** Widgets whose content is no part of what surrounds them: what a menu
 * offers is not what its opener is called, nor a branch what its item is.
 * @type {Set<string>} */
const OPAQUE_ROLES = new Set(['menu', 'menubar', 'dialog', 'alertdialog', 'tree', 'treegrid', 'group']);

/** Structures that are not part of a cell's, row's or tree item's name, as in
 * Chromium: these hold whole pages at times. In a link or heading they count (2H).
 * @type {Set<string>} */
const STRUCTURE_ROLES = new Set(['article', 'alert', 'banner', 'blockquote', 'complementary', 'contentinfo', 'feed', 'figure', 'form', 'grid',
  'log', 'main', 'marquee', 'navigation', 'note', 'radiogroup', 'region', 'search', 'status', 'tablist', 'tabpanel', 'timer', 'toolbar']);

/** Roles named by content that are containers too. @type {Set<string>} */
const CONTAINER_ROLES = new Set(['cell', 'gridcell', 'row', 'columnheader', 'rowheader', 'treeitem']);

/** @param {Facts} root @returns {Walk} */
function newWalk(root) {
  return { root, byReference: false, hiddenToo: false, skip: null, visited: null, strict: CONTAINER_ROLES.has(root.role ?? ''), left: WALK_NODES, special: 0 };
}

/** The text of what is in an element, with what CSS puts before and after it.
 * White space is not yet folded.
 * @param {Facts} top @param {Walk} walk @returns {string} */
function contentText(top, walk) {
  if (isPlain(walk) && top.piece !== undefined) return top.piece;
  /** @type {Frame[]} */
  const stack = [openFrame(top, walk)];
  for (;;) {
    const frame = stack[stack.length - 1];
    if (frame.next < frame.kids.length && frame.text.length < NAME_CHARS && walk.left-- > 0) {
      const node = frame.kids[frame.next++];
      if (dom.nodeType(node) !== 1) {
        if (isUnseen(frame.f, walk)) continue;
        // Indentation is no text: it must not use up the room there is.
        frame.text += shownText(cut(dom.textOf(node).replace(/[\t\n\f\r ]{2,}/g, ' ')), frame.f);
        continue;
      }
      const f = factsOf(/** @type {Element} */ (node));
      const whole = wholeText(f, walk);
      if (whole !== null) frame.text += whole;
      else if (f.piece !== undefined && isPlain(walk)) frame.text += asChild(f, f.piece);
      else stack.push(openFrame(f, walk));
      continue;
    }
    stack.pop();
    const { f } = frame;
    let inner = frame.text;
    // accname 2I: a label without text has its tooltip for it.
    if (f.tag === 'label' && f.hasTitle && !isText(inner)) inner = ` ${dom.attr(f.el, 'title')} `;
    const text = cut(frame.before + inner) + (isUnseen(f, walk) ? '' : generatedText(f, '::after'));
    if (isPlain(walk) && walk.left > 0 && walk.special === frame.special) f.piece = text;
    if (stack.length === 0) return text;
    stack[stack.length - 1].text += asChild(f, text);
  }
}

/** @param {string} text @returns {string} */
function cut(text) {
  return text.length > NAME_CHARS ? text.slice(0, NAME_CHARS) : text;
}

/** @param {Facts} f @param {Walk} walk @returns {Frame} */
function openFrame(f, walk) {
  const before = isUnseen(f, walk) ? '' : generatedText(f, '::before');
  return { f, kids: ariaChildren(f), next: 0, text: '', before, special: walk.special };
}

/** Whether a walk sees what any walk without references sees: its pieces can be kept.
 * @param {Walk} walk @returns {boolean} */
function isPlain(walk) {
  return !walk.hiddenToo && walk.visited === null;
}

/** Whether an element's own text is invisible. What is in it may not be.
 * @param {Facts} f @param {Walk} walk @returns {boolean} */
function isUnseen(f, walk) {
  return !walk.hiddenToo && styled(f).visibility !== 'visible' && f.tag !== 'option';
}

/** Text of an element as its parent's text takes it in.
 * @param {Facts} f @param {string} text @returns {string} */
function asChild(f, text) {
  if (!isText(text)) {
    // accname 2I: a tooltip stands for what has no text.
    if (f.hasTitle && !(f.hasRole && roleOfFacts(f) === 'none')) return ` ${dom.attr(f.el, 'title')} `;
    return isBlock(f) && f.display !== 'inline-block' ? ' ' : text;
  }
  // accname 2F.i: block-level and inline-block text stands apart.
  return isBlock(f) ? ` ${text} ` : text;
}

/** @param {Facts} f @returns {boolean} */
function isBlock(f) {
  switch (styled(f).display) {
    case 'inline': case 'contents': case 'none': case 'ruby': case 'ruby-text': case 'math':
      return f.tag === 'svg:text' || f.tag === 'canvas';
    default:
      return true;
  }
}

/** Text of an element that is taken as a whole, '' if it has none, or null if
 * it is the text of its content (accname 2A to 2E).
 * @param {Facts} f @param {Walk} walk @returns {string | null} */
function wholeText(f, walk) {
  if (NO_TEXT.has(f.tag)) return '';
  // 2A: hidden, and not part of what a reference uncovers.
  if (!walk.hiddenToo && (!isRendered(f) || ariaToken(f, 'aria-hidden') === 'true')) return '';
  if (f === walk.skip || walk.visited?.has(f)) {
    walk.special++;
    return ' ';
  }
  if (f.tag === 'br') return '\n';
  // A slot is no part of the accessibility tree; what is in it is.
  if (f.tag === 'slot') return null;
  if (isUnseen(f, walk)) return CHILDLESS.has(f.tag) ? '' : null;
  if (f.tag === 'img' && roleOfFacts(f) === 'none') return '';
  if (f.hasAria) {
    // 2B: once only.
    if (dom.hasAttr(f.el, 'aria-labelledby')) {
      walk.special++;
      if (!walk.byReference) {
        const text = labelledbyText(f, walk);
        if (text !== '') return ` ${text} `;
      }
    }
  }
  // 2C: the value of a control within a name.
  const value = embeddedValue(f, walk);
  if (value !== null) return ` ${value} `;
  // 2D
  const label = f.hasAria ? dom.attr(f.el, 'aria-label') : null;
  if (isText(label)) return ` ${label} `;
  // 2E
  const alternative = hostText(f, walk);
  if (alternative !== null) return isText(alternative) || !f.hasTitle ? ` ${alternative} ` : ` ${dom.attr(f.el, 'title')} `;
  if (CHILDLESS.has(f.tag)) return f.hasTitle ? ` ${dom.attr(f.el, 'title')} ` : ' ';
  if (f.hasRole || f.tag === 'dialog') {
    if (OPAQUE_ROLES.has(roleOfFacts(f))) return ' ';
  }
  if (walk.strict && STRUCTURE_ROLES.has(roleOfFacts(f))) {
    walk.special++;
    return ' ';
  }
  return null;
}

/** A text node's text as its element shows it (accname: CSS text-transform is
 * what a person reads; full-size-kana would change the words).
 * @param {string} text @param {Facts} f @returns {string} */
function shownText(text, f) {
  const transform = /** @type {CSSStyleDeclaration} */ (styled(f).style).textTransform;
  if (transform === 'none') return text;
  if (transform.includes('uppercase')) return text.toUpperCase();
  if (transform.includes('lowercase')) return text.toLowerCase();
  if (transform.includes('capitalize')) return text.replace(/(^|[^\p{L}\p{N}\p{M}'’])(\p{L})/gu, (_, before, letter) => before + letter.toUpperCase());
  return text;
}

/** ASCII white space folded; a no-break space is not white space to HTML.
 * @param {string} text @returns {string} */
function folded(text) {
  return text.replace(/[\t\n\f\r ]+/g, ' ').replace(/^ | $/g, '');
}
