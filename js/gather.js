// @ts-check
// Texts of a view: pieces of a paragraph become one text, and what a name has said is not said again.

/** A text longer than a name may be is several texts, cut between words. */
const TEXT_PIECE = 200;

/** @param {View} view @param {Level} level @param {string} data */
function takeText(view, level, data) {
  if (level.f.visibility !== 'visible' && level.f.tag !== 'option') return;
  if (view.refs > view.capRefs || view.chars > view.capChars) return;
  // HTML 4.11.1: of a closed details only the summary is shown.
  if (level.f.tag === 'details' && !dom.detailsOpen(level.f.el)) return;
  if (!/[^\t\n\f\r ]/.test(data)) {
    if (view.run) view.run.text += ' ';
    return;
  }
  const unseen = isTextUnseen(level);
  if (level.holder) {
    level.holder.texts++;
    if (!unseen) level.holder.seenTexts++;
    if (level.hold && level.hold.how === 'all' && level.hold.name.length <= NAME_CUT) return;
  }
  const { run } = view;
  const text = shownText(data, level.f);
  if (run && run.unseen === unseen && run.level.entry === level.entry && run.level.hold === level.hold) {
    run.text += text;
    return;
  }
  if (run) flush(view);
  view.run = { text, level, unseen };
}

/** Ends the text being gathered. @param {View} view */
function flush(view) {
  const { run } = view;
  view.run = null;
  if (!run) return;
  let text = folded(run.text);
  if (text === '' || isHeld(text, run.level.hold)) return;
  const { level } = run;
  const dead = view.viewportOnly && !isInViewport(level.f.el);
  while (text !== '' && view.chars <= view.capChars) {
    let piece = text;
    if (text.length > TEXT_PIECE) {
      const space = text.lastIndexOf(' ', TEXT_PIECE);
      piece = cutAtPair(text, space > 0 ? space : TEXT_PIECE);
    }
    text = text.slice(piece.length).replace(/^ /, '');
    view.chars += piece.length + 32;
    view.entries.push({
      f: level.f, text: piece, role: 'text', parent: level.entry, depth: 0, dead, acting: false, clickable: false, hand: false, scrolls: false, unseen: run.unseen,
      texts: 0, seenTexts: 0,
    });
  }
}

/** @param {string} text @param {number} at */
function cutAtPair(text, at) {
  const code = text.charCodeAt(at - 1);
  return text.slice(0, code >= 0xD800 && code <= 0xDBFF ? at - 1 : at);
}

/** Whether a name above has said a text. @param {string} text @param {Hold | null} hold */
function isHeld(text, hold) {
  for (let steps = 0; hold && steps < 16; hold = hold.up, steps++) {
    const { name, how } = hold;
    if (how === 'same') {
      if (name === text) return true;
    } else if (how === 'all') {
      // A name longer than it is shown holds what is shown of it.
      if (name.length <= NAME_CUT || cutTo(name, NAME_CUT).includes(text)) return true;
    } else if (name === text || hasWords(name, text)) return true;
  }
  return false;
}

/** Whether `words` stand in `name`, not as a part of longer words. @param {string} name @param {string} words */
function hasWords(name, words) {
  for (let at = name.indexOf(words); at >= 0; at = name.indexOf(words, at + 1)) {
    const before = name[at - 1] ?? ' ', after = name[at + words.length] ?? ' ';
    if (!(isWordChar(before) && isWordChar(words[0])) && !(isWordChar(after) && isWordChar(words[words.length - 1]))) return true;
  }
  return false;
}

/** @param {string} c */
function isWordChar(c) {
  return /[\p{L}\p{N}]/u.test(c);
}
