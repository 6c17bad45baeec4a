// @ts-check
// `text`: what a person would copy off the page. Close to `innerText` (HTML 3.2.7), with shadow roots, form values and
// tables by tabs; `markdown` puts the marks of markdown.js around it.

/**
 * @typedef {{root?: {ref?: number, selector?: string} | null, format?: 'text' | 'markdown', main?: boolean, max_chars?: number, offset?: number}} TextArgs
 */

/**
 * Text being written. `lines` are line ends owed before the next word, `space` a space.
 * @typedef {object} Writer
 * @property {string[]} out
 * @property {number} lines
 * @property {boolean} space
 * @property {boolean} started something was written
 * @property {boolean} fresh nothing was written on this line
 * @property {boolean} tied what comes next stays on this line: a cell or a mark has just begun
 * @property {boolean} markdown
 * @property {string[]} indents what each further line of a list item or quotation starts with
 */

/** @typedef {{f: Facts, next: Node | null, list: Node[] | null, at: number, up: TextLevel | null, close: (() => void) | null, space: string, cells: number}} TextLevel */

/** Elements with an empty line before and after (`innerText` has it for `p` alone; headings read better so). @type {Set<string>} */
const SPACED_TAGS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'table', 'pre', 'hr']);
/** Replaced elements without text of their own to copy. @type {Set<string>} */
const TEXTLESS_TAGS = new Set(['iframe', 'frame', 'canvas', 'audio', 'video', 'object', 'embed', 'meter', 'progress', 'img']);

/**
 * @param {TextArgs} args
 * @returns {{text: string, total_chars: number, truncated: boolean} | {error: string}}
 */
function text(args) {
  let root = rootOfArgs(args);
  if (!(root instanceof Element)) return root;
  if (args.main) root = mainOf(root);
  const whole = safeText(textOfElement(root, args.format === 'markdown')).toWellFormed();
  return sliceOf(whole, args.offset ?? 0, args.max_chars ?? 20000);
}

/**
 * A part of a text, counted in characters (code points).
 * @param {string} whole @param {number} offset @param {number} max
 */
function sliceOf(whole, offset, max) {
  const paired = /[\u{10000}-\u{10FFFF}]/u.test(whole);
  if (!paired) return { text: whole.slice(offset, offset + max), total_chars: whole.length, truncated: offset + max < whole.length };
  let at = 0, count = 0, from = whole.length, to = whole.length;
  while (at < whole.length) {
    if (count === offset) from = at;
    if (count === offset + max) to = at;
    at += (whole.codePointAt(at) ?? 0) > 0xFFFF ? 2 : 1;
    count++;
  }
  return { text: whole.slice(from, Math.max(from, to)), total_chars: count, truncated: offset + max < count };
}

/**
 * @param {Element} top @param {boolean} markdown
 * @returns {string}
 */
function textOfElement(top, markdown) {
  /** @type {Writer} */
  const w = { out: [], lines: 0, space: false, started: false, fresh: true, tied: false, markdown, indents: [] };
  /** @type {TextLevel | null} */
  let level = enterText(w, top, null);
  while (level) {
    let node;
    if (level.list) node = level.at < level.list.length ? level.list[level.at++] : null;
    else {
      node = level.next;
      if (node) level.next = dom.nextSibling(node);
    }
    if (!node) {
      level.close?.();
      level = level.up;
      continue;
    }
    const type = dom.nodeType(node);
    if (type === 1) level = enterText(w, /** @type {Element} */ (node), level) ?? level;
    else if (type === 3 || type === 4) writeText(w, level, dom.textOf(node));
  }
  return w.out.join('');
}

/** @param {Writer} w @param {Element} el @param {TextLevel | null} up @returns {TextLevel | null} */
function enterText(w, el, up) {
  const f = factsOf(el);
  const { tag } = f;
  if (NEVER_TAGS.has(tag)) return null;
  if (up && f.up === undefined) f.up = up.f;
  if (!isRendered(f) && !isFlatAncestorOfModal(el)) return null;
  const style = /** @type {CSSStyleDeclaration} */ (styled(f).style);
  const shown = f.visibility === 'visible';
  if (tag === 'br') {
    if (shown) breakLine(w);
    return null;
  }
  const value = shown ? fieldText(f) : null;
  if (value !== null) {
    writeWord(w, value);
    return null;
  }
  if (TEXTLESS_TAGS.has(tag)) {
    if (w.markdown && tag === 'img' && shown) markImage(w, el);
    return null;
  }
  if (CHILDLESS.has(tag) && tag !== 'hr') return null;
  const { display } = f;
  /** @type {TextLevel} */
  const level = { f, next: null, list: null, at: 0, up, close: null, space: style.whiteSpace, cells: 0 };
  if (display === 'table-cell') startCell(w, level);
  else if (display === 'table-row') {
    owe(w, 1);
    level.close = () => owe(w, 1);
  } else if (display !== 'inline' && display !== 'contents' && display !== 'inline-block' && display !== 'inline-flex') {
    const lines = SPACED_TAGS.has(tag) ? 2 : 1;
    owe(w, lines);
    level.close = () => owe(w, lines);
  } else if (display === 'inline-block' || display === 'inline-flex') {
    w.space = true;
    level.close = () => { w.space = true; };
  }
  if (w.markdown && shown) markElement(w, level);
  const root = shadowOf(el);
  level.next = dom.firstChild(root ?? el);
  if (!root && tag === 'slot') {
    const assigned = dom.assignedNodes(/** @type {HTMLSlotElement} */ (el));
    if (assigned.length > 0) level.list = assigned;
  }
  return level;
}

/** @param {Element} el */
function isFlatAncestorOfModal(el) {
  const modal = modalNow();
  return modal !== null && modal.dialog !== el && isFlatInside(modal.dialog, el);
}

/** Cells of a row are apart by tabs. @param {Writer} w @param {TextLevel} level */
function startCell(w, level) {
  const row = level.up;
  w.space = false;
  if (row && row.cells++ > 0) {
    put(w, w.markdown ? ' | ' : '\t');
    w.fresh = true;
  }
  w.tied = true;
  level.close = () => {
    // A row of which nothing is written yet still owes its own line.
    if (!w.tied) w.lines = 0;
    w.tied = w.space = false;
  };
}

/** What a control holds, null for what is none. @param {Facts} f @returns {string | null} */
function fieldText(f) {
  switch (f.tag) {
    case 'textarea':
      return String(dom.value(f.el));
    case 'select':
      return selectedText(f, newWalk(f));
    case 'input': {
      const type = dom.inputType(f.el);
      if (type === 'checkbox' || type === 'radio' || type === 'hidden' || type === 'image' || type === 'range' || type === 'color') return '';
      if (type === 'file') return [...(dom.files(f.el) ?? [])].map((file) => file.name).join(', ');
      const value = textValue(f) ?? '';
      return value !== '' ? value : type === 'submit' || type === 'reset' ? nameOfFacts(f) : '';
    }
    default:
      return null;
  }
}

/** @param {Writer} w @param {TextLevel} level @param {string} data */
function writeText(w, level, data) {
  if (level.f.visibility !== 'visible') return;
  if (level.f.tag === 'details' && !dom.detailsOpen(level.f.el)) return;
  const { space } = level;
  if (space === 'pre' || space === 'pre-wrap' || space === 'break-spaces') {
    put(w, shownText(data, level.f));
    return;
  }
  const lines = space === 'pre-line' ? data.split('\n') : [data];
  lines.forEach((line, i) => {
    if (i > 0) breakLine(w);
    const words = shownText(folded(line), level.f);
    if (/^[\t\n\f\r ]/.test(line)) w.space = true;
    if (words !== '') {
      put(w, words);
      w.space = /[\t\n\f\r ]$/.test(line);
    }
  });
}

/** Writes something apart from its neighbours. @param {Writer} w @param {string} word */
function writeWord(w, word) {
  if (word === '') return;
  w.space = true;
  put(w, word);
  w.space = true;
}

/** @param {Writer} w @param {string} words */
function put(w, words) {
  if (words === '') return;
  if (w.lines > 0) {
    if (w.started) {
      const indent = w.indents.join('');
      for (let i = 0; i < w.lines; i++) w.out.push('\n', i === w.lines - 1 ? indent : indent.trimEnd());
    }
    w.lines = 0;
    w.fresh = true;
  }
  if (w.space && !w.fresh) w.out.push(' ');
  w.space = false;
  const indent = w.indents.join('');
  w.out.push(indent === '' ? words : words.replaceAll('\n', `\n${indent}`));
  w.started = true;
  w.tied = false;
  w.fresh = words.endsWith('\n');
}

/** @param {Writer} w */
function breakLine(w) {
  if (w.lines > 0 || !w.started || w.tied) return;
  w.out.push('\n', w.indents.join(''));
  w.fresh = true;
  w.space = false;
}

/** Line ends before whatever comes next. @param {Writer} w @param {number} lines */
function owe(w, lines) {
  if (w.tied) return;
  // A line that was just broken counts for one.
  const last = w.out[w.out.length - 2] === '\n' && w.fresh ? 1 : 0;
  if (w.lines < lines - last) w.lines = lines - last;
  w.space = false;
}
