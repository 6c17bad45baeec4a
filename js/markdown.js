// @ts-check
// The marks that `text` puts around what it writes when markdown is asked for: headings, lists, links, quotations, code,
// emphasis, tables. Text itself is not escaped: it is to be read, not rendered.

/** @type {Record<string, string>} */
const INLINE_MARKS = { __proto__: /** @type {any} */ (null), strong: '**', b: '**', em: '*', i: '*', code: '`', del: '~~', s: '~~' };

/** @param {Writer} w @param {TextLevel} level */
function markElement(w, level) {
  const { f } = level;
  const { tag } = f;
  const heading = /^h([1-6])$/.exec(tag);
  if (heading) mark(w, '#'.repeat(Number(heading[1])) + ' ');
  else if (tag === 'hr') put(w, '---');
  else if (tag === 'li') markItem(w, level);
  else if (tag === 'blockquote') indented(w, level, '> ', '> ');
  else if (tag === 'pre') fence(w, level);
  else if (tag === 'tr') markRow(w, level);
  else if (tag === 'a' && dom.hasAttr(f.el, 'href')) markLink(w, level);
  else if (INLINE_MARKS[tag] !== undefined && f.display === 'inline' && !(tag === 'code' && level.space.startsWith('pre')) && isText(dom.textContent(f.el))) {
    const sign = INLINE_MARKS[tag];
    mark(w, sign);
    closing(level, () => closeMark(w, sign));
  }
}

/** Writes a mark that the next word follows at once. @param {Writer} w @param {string} sign */
function mark(w, sign) {
  put(w, sign);
  w.fresh = w.tied = true;
}

/** Writes a mark right behind the last word; a space before it comes after it. @param {Writer} w @param {string} sign */
function closeMark(w, sign) {
  const { space } = w;
  w.space = false;
  put(w, sign);
  w.space = space;
}

/** Does something before what a level does at its end. @param {TextLevel} level @param {() => void} first */
function closing(level, first) {
  const { close } = level;
  level.close = () => {
    first();
    close?.();
  };
}

/** @param {Writer} w @param {TextLevel} level @param {string} sign @param {string} further */
function indented(w, level, sign, further) {
  mark(w, sign);
  w.indents.push(further);
  closing(level, () => w.indents.pop());
}

/** @param {Writer} w @param {TextLevel} level */
function markItem(w, level) {
  const list = level.up;
  if (list && list.f.tag === 'ol') {
    const start = parseInt(dom.attr(list.f.el, 'start') ?? '', 10);
    const number = `${(Number.isFinite(start) ? start : 1) + list.cells++}. `;
    indented(w, level, number, ' '.repeat(number.length));
  } else indented(w, level, '- ', '  ');
}

/** @param {Writer} w @param {TextLevel} level */
function fence(w, level) {
  put(w, '```\n');
  closing(level, () => {
    w.space = false;
    put(w, w.out[w.out.length - 1]?.endsWith('\n') ? '```' : '\n```');
  });
}

/** @param {Writer} w @param {TextLevel} level */
function markRow(w, level) {
  mark(w, '| ');
  const body = level.up;
  const isFirst = body !== null && body.cells++ === 0 && (body.f.tag === 'thead' || body.f.tag === 'table' || body.up?.cells === 0);
  if (body?.up && body.f.tag !== 'table') body.up.cells++;
  closing(level, () => {
    w.lines = 0;
    w.out.push(' |');
    if (isFirst) w.out.push('\n', w.indents.join(''), `|${' --- |'.repeat(Math.max(1, level.cells))}`);
    w.fresh = false;
    w.space = false;
  });
}

/** @param {Writer} w @param {TextLevel} level */
function markLink(w, level) {
  const url = cutTo(linkUrl(level.f).toWellFormed(), URL_CUT);
  if (url === '' || url.startsWith('javascript:')) return;
  mark(w, '[');
  closing(level, () => closeMark(w, `](${url})`));
}

/** @param {Writer} w @param {Element} el */
function markImage(w, el) {
  const alt = folded(dom.attr(el, 'alt') ?? '');
  if (alt !== '') writeWord(w, `![${alt}]`);
}
