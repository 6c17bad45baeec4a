// @ts-check
// One walk over the flat tree: which elements and texts make a view of the page, in reading order, and how they nest.
//
// The walk decides what is there; names and roles are aria's, what a person can see is unseen.js's, records are read.js's.
// It keeps its own stack (pages may be thousands of levels deep) and looks at the clock, so that any page ends it in time.

/**
 * An element or a text of the view. `parent` is the entry it stands in; `dead` entries were withdrawn by what came after them.
 * @typedef {object} Entry
 * @property {Facts} f the element, or the one the text stands in
 * @property {string | null} text null for an element
 * @property {string} role
 * @property {Entry | null} parent
 * @property {number} depth
 * @property {boolean} dead
 * @property {boolean} acting one acts on it by its role, focus or listeners
 * @property {boolean} clickable listens to clicks without a role that says so
 * @property {boolean} hand is here only for its cursor, unless something inside can be acted on
 * @property {boolean} scrolls
 * @property {boolean} unseen
 * @property {string} [cover] ref of what lies over it
 * @property {number} texts how many texts its name holds
 * @property {number} seenTexts how many of them a person can see
 */

/**
 * A name that holds the texts below it. `all`: it was made of them; `words`: they are not said again if it has their
 * words; `same`: only if it is just the text.
 * @typedef {{name: string, how: 'all' | 'words' | 'same', up: Hold | null}} Hold
 */

/**
 * @typedef {object} Level
 * @property {Facts} f
 * @property {Entry | null} entry the nearest entry, its own or that of an ancestor
 * @property {Hold | null} hold
 * @property {Entry | null} holder the entry whose name is made of the text here
 * @property {boolean} block
 * @property {boolean} leaf inside a role whose children are presentational
 * @property {boolean} acting inside something that can be acted on
 * @property {boolean} hand its cursor is the hand
 * @property {Entry | null} own
 * @property {number} actingBefore
 * @property {Node | null} next
 * @property {Node[] | null} list
 * @property {number} at
 * @property {Level | null} up
 * @property {Visual | null} visual
 * @property {string | undefined} overflow computed, once asked for
 * @property {boolean | undefined} shows what is rendered in it is plainly rendered, but for itself
 */

/**
 * @typedef {object} View
 * @property {boolean} full
 * @property {boolean} viewportOnly
 * @property {Entry[]} entries
 * @property {number} refs entries of elements that are not dead
 * @property {number} acting
 * @property {number} hiddenRoots
 * @property {boolean} late the budget ran out
 * @property {number} deadline
 * @property {number} capRefs beyond so many refs texts are left out and names not asked for
 * @property {number} chars
 * @property {number} capChars
 * @property {number} looked
 * @property {Run | null} run
 * @property {Owns} owns
 * @property {Map<Element, Element[]>} labelling elements named by another's text
 * @property {Set<Element>} done controls their label stood for
 */

/** Text being gathered. @typedef {{text: string, level: Level, unseen: boolean}} Run */

/** Roles that say nothing without a name. @type {Set<string>} */
const SILENT_ROLES = new Set(['generic', 'none', 'paragraph', 'strong', 'emphasis', 'subscript', 'superscript', 'deletion', 'insertion', 'mark', 'time', 'code',
  'caption', 'rowgroup', 'suggestion', 'legend']);
/** Elements that always have a ref. @type {Set<string>} */
const ALWAYS_TAGS = new Set(['img', 'canvas', 'video', 'audio', 'iframe', 'frame', 'svg:image']);
/** @type {Set<string>} */
const NEVER_TAGS = new Set(['script', 'style', 'template', 'noscript', 'head', 'link', 'meta', 'title', 'base', 'datalist', 'param', 'source', 'track', 'svg:title', 'svg:desc', 'svg:defs',
  'svg:style', 'svg:script', 'svg:metadata', 'svg:symbol', 'svg:clipPath', 'svg:mask', 'svg:linearGradient', 'svg:radialGradient', 'svg:pattern', 'svg:marker']);
/**
 * Walks `top` and what is in it.
 * @param {Element} top
 * @param {{full?: boolean, viewportOnly?: boolean, capRefs: number, capChars: number, deadline: number}} options
 * @returns {View}
 */
function walk(top, options) {
  /** @type {View} */
  const view = {
    full: options.full === true, viewportOnly: options.viewportOnly === true, entries: [], refs: 0, acting: 0, hiddenRoots: 0, late: false,
    deadline: options.deadline, capRefs: options.capRefs, chars: 0, capChars: options.capChars, looked: 0, run: null,
    owns: ownsAround(top), labelling: new Map(), done: new Set(),
  };
  noteLabelling(view, document);
  const root = dom.rootOf(top);
  if (root !== document) noteLabelling(view, root);
  /** @type {Level | null} */
  let level = enter(view, top, null);
  while (level) {
    if ((++view.looked & 127) === 0 && performance.now() > view.deadline) {
      view.late = true;
      break;
    }
    const node = nextIn(view, level);
    if (!node) {
      leave(view, level);
      level = level.up;
      continue;
    }
    const type = dom.nodeType(node);
    if (type === 1) level = enter(view, /** @type {Element} */ (node), level) ?? level;
    else if (type === 3 || type === 4) takeText(view, level, dom.textOf(node));
  }
  for (; level; level = level.up) leave(view, level);
  flush(view);
  return view;
}

/** @param {View} view @param {Level} level @returns {Node | null} */
function nextIn(view, level) {
  for (;;) {
    let node;
    if (level.list) node = level.at < level.list.length ? level.list[level.at++] : null;
    else {
      node = level.next;
      if (node) level.next = dom.nextSibling(node);
    }
    if (!node) return null;
    // ARIA 1.3 6.6 aria-owns: read where its owner has it.
    if (view.owns.ownerOf.size > 0 && view.owns.ownerOf.has(/** @type {Element} */ (node)) && view.owns.ownerOf.get(/** @type {Element} */ (node)) !== level.f.el) continue;
    return node;
  }
}

/**
 * Looks at an element; returns the level of its children, or null if there are none to look at.
 * @param {View} view @param {Element} el @param {Level | null} up @returns {Level | null}
 */
function enter(view, el, up) {
  const f = factsOf(el);
  const { tag } = f;
  if (NEVER_TAGS.has(tag)) return null;
  if (up && f.up === undefined && view.owns.ownerOf.size === 0) f.up = up.f;
  if (up && f.rendered < 0 && tag !== 'area' && (up.shows ??= showsChildren(up.f))) f.rendered = styled(f).display !== 'none' && !f.hasInert ? 1 : 0;
  if (!isRendered(f)) {
    // A modal dialog is shown though what is around it is not (HTML 6.4.2).
    const modal = modalNow();
    if (!modal || modal.dialog === el || !isFlatInside(modal.dialog, el)) return null;
  }
  if (f.hasAria || view.owns.ownerOf.size > 0 || !up) {
    if (ariaInherited(f) & ARIA_HIDDEN) return null;
  } else if (f.inherited < 0) f.inherited = up.f.inherited;
  if (tag === 'br') {
    if (view.run) view.run.text += ' ';
    return null;
  }
  const style = /** @type {CSSStyleDeclaration} */ (styled(f).style);
  const display = f.display;
  const block = !(display === 'inline' || display === 'contents');
  if (block && view.run) flush(view);
  /** @type {Level} */
  const level = {
    f, entry: up ? up.entry : null, hold: up ? up.hold : null, holder: up ? up.holder : null, block, leaf: up ? up.leaf : false, acting: up ? up.acting : false,
    hand: false, own: null, actingBefore: view.acting, next: null, list: null, at: 0, up, visual: null,
    overflow: undefined, shows: undefined,
  };
  const beyond = view.refs > view.capRefs || view.chars > view.capChars;
  level.hand = style.cursor === 'pointer';
  if (!factsHidden(f)) judge(view, level, style, beyond);
  if (tag === 'label') standForControl(view, level, beyond);
  else if (view.labelling.size > 0 && !level.own && !beyond) {
    const named = view.labelling.get(el);
    if (named) for (const each of named) level.hold = { name: nameOfFacts(factsOf(each)), how: 'words', up: level.hold };
  }
  if (CHILDLESS.has(tag)) {
    leave(view, level);
    return null;
  }
  open(view, level);
  if ((!level.next || tag.includes('-')) && mayHideRoot(f)) view.hiddenRoots++;
  return level;
}

/**
 * Whether the children of an element are rendered wherever their own style lets them; else `isRendered` knows.
 * @param {Facts} f
 */
function showsChildren(f) {
  return f.rendered === 1 && f.tag !== 'details' && f.tag !== 'select' && !modalNow() && !CHILDLESS.has(f.tag) && !skipsContents(f);
}

/**
 * Decides whether an element has an entry.
 * @param {View} view @param {Level} level @param {CSSStyleDeclaration} style @param {boolean} beyond
 */
function judge(view, level, style, beyond) {
  const { f, up } = level;
  const role = roleOfFacts(f);
  const silent = SILENT_ROLES.has(role);
  let acting = ACTING_ROLES.has(role);
  let clickable = false, hand = false;
  if (!acting) {
    const listens = listensToClicks(f) && !(f.tag === 'label' && dom.labelControl(f.el));
    const focusable = isFocusable(f) && f.tag !== 'iframe';
    clickable = listens || (focusable && silent && (dom.tabIndex(f.el) >= 0 || isEditingHost(f)));
    acting = listens || focusable;
    // A hand that begins here, over nothing that acts and in nothing that does.
    if (!acting && level.hand && !level.acting && !(up && up.hand) && f.tag !== 'label' && f.tag !== 'body' && f.tag !== 'html') clickable = hand = true;
  }
  const scrolls = scrollsItself(level, style);
  const always = ALWAYS_TAGS.has(f.tag);
  let wanted = acting || clickable || always || scrolls;
  if (!wanted && !level.leaf) {
    wanted = !silent && (up !== null || f.tag !== 'html');
    if (silent && f.hasAria && !level.holder) {
      nameOfFacts(f);
      wanted = f.nameFrom === 'aria-label' || f.nameFrom === 'labelledby';
    }
  }
  if (view.full) wanted = true;
  if (!wanted || (view.done.size > 0 && view.done.has(f.el))) return;
  addEntry(view, level, role, acting, clickable, hand, scrolls, beyond);
}

/**
 * @param {View} view @param {Level} level @param {string} role @param {boolean} acting @param {boolean} clickable @param {boolean} hand
 * @param {boolean} scrolls @param {boolean} beyond
 */
function addEntry(view, level, role, acting, clickable, hand, scrolls, beyond) {
  const { f } = level;
  if (view.run) flush(view);
  const inView = !view.viewportOnly || isInViewport(f.el);
  /** @type {Entry} */
  const entry = {
    f, text: null, role: f.tag === 'frame' ? 'iframe' : role, parent: level.entry, depth: 0, dead: !inView, acting, clickable, hand, scrolls, unseen: false,
    texts: 0, seenTexts: 0,
  };
  view.entries.push(entry);
  if (inView) view.refs++;
  if (acting) view.acting++;
  level.own = level.entry = entry;
  if (acting) level.acting = true;
  if (beyond) return;
  view.chars += 40;
  const name = nameOfFacts(f);
  if (OPAQUE_ROLES.has(role)) level.hold = level.holder = null;
  if (name !== '') {
    view.chars += Math.min(name.length, NAME_CUT);
    const content = f.nameFrom === 'content';
    if (content) level.holder = entry;
    level.hold = { name, how: content ? 'all' : CONTENT_NAMED.has(role) ? 'words' : 'same', up: level.hold };
  }
  if (hasPresentationalChildren(role)) level.leaf = true;
}

/**
 * A label holds its control's name; where the control itself is hidden, the label stands for it.
 * @param {View} view @param {Level} level @param {boolean} beyond
 */
function standForControl(view, level, beyond) {
  const control = dom.labelControl(level.f.el);
  if (!control) return;
  const f = factsOf(control);
  if (factsHidden(f)) {
    const type = f.tag === 'input' ? dom.inputType(control) : '';
    if ((type !== 'checkbox' && type !== 'radio' && type !== 'file') || level.own || factsHidden(level.f)) return;
    if (view.done.has(control)) return;
    view.done.add(control);
    const { f: label } = level;
    level.f = f;
    addEntry(view, level, roleOfFacts(f), true, false, false, false, beyond);
    level.f = label;
    // The text within is the control's name, not its content.
    level.hold = { name: f.name ?? '', how: 'words', up: level.hold };
    level.entry = level.up ? level.up.entry : null;
    level.own = null;
  } else if (!beyond && (ariaInherited(f) & ARIA_HIDDEN) === 0) level.hold = { name: nameOfFacts(f), how: 'words', up: level.hold };
}

/**
 * Points a level at its children in the flat tree, and at what its element owns.
 * @param {View} view @param {Level} level
 */
function open(view, level) {
  const { el } = level.f;
  const root = shadowOf(el);
  /** @type {Node} */
  let from = el;
  if (root) {
    from = root;
    noteLabelling(view, root);
    const first = dom.queryAll(root, '*')[0];
    if (first) ownsAround(first);
  } else if (level.f.tag === 'slot') {
    const assigned = dom.assignedNodes(/** @type {HTMLSlotElement} */ (el));
    if (assigned.length > 0) level.list = assigned;
  }
  level.next = dom.firstChild(from);
  const owned = view.owns.ownedBy.size > 0 ? view.owns.ownedBy.get(el) : undefined;
  if (owned) level.list = ariaChildrenOf(el);
}

/** @param {View} view @param {Node} root */
function noteLabelling(view, root) {
  for (const el of dom.queryAll(root, '[aria-labelledby]')) {
    for (const target of dom.refsOf(el, 'aria-labelledby')) {
      if (isHidden(el)) continue;
      const named = view.labelling.get(target);
      if (named) named.push(el);
      else view.labelling.set(target, [el]);
    }
  }
}

/** @param {View} view @param {Level} level */
function leave(view, level) {
  if (level.block && view.run) flush(view);
  const { own } = level;
  if (!own) return;
  if (view.run) flush(view);
  if (own.hand && view.acting > level.actingBefore && !own.dead) {
    // The hand was inherited by something that can be acted on: that is the thing.
    own.clickable = own.hand = false;
    if (SILENT_ROLES.has(own.role) && !own.scrolls && !view.full) {
      own.dead = true;
      view.refs--;
    }
  } else if (own.hand) {
    own.acting = true;
    view.acting++;
  }
  if (own.texts > 0 && own.seenTexts === 0) own.unseen = true;
  if (level.up && level.holder && level.holder !== own) {
    level.holder.texts += own.texts;
    level.holder.seenTexts += own.seenTexts;
  }
}

/** Whether an element is a scroll container with something to scroll. @param {Level} level @param {CSSStyleDeclaration} style */
function scrollsItself(level, style) {
  const { f } = level;
  if (f.display === 'inline' || f.tag === 'body' || f.tag === 'html') return false;
  const overflow = (level.overflow ??= style.overflow);
  if (overflow === 'visible' || overflow === 'hidden' || overflow === 'clip' || (!overflow.includes('auto') && !overflow.includes('scroll'))) return false;
  const left = scrollLeftOver(f.el, style);
  return left !== null;
}
