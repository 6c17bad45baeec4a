// @ts-check
// Text hygiene: what page text may hold when it stands in a name, an outline or a `text` reply.
//
// Removed are characters that nobody sees but a model reads: bidi controls, zero-width characters, tag characters,
// stray variation selectors, control characters. What a script or an emoji needs stays: joiners inside words of scripts
// that join, one variation selector where the base takes one, the three flags spelt with tags. See UTS #51 and UAX #31.

/** Anything that needs a look. Under the `u` flag `\uD800-\uDFFF` matches lone surrogates only. */
const SUSPICIOUS = /[\u0000-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uD800-\uDFFF\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFFB\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]/u;
const SUSPICIOUS_ALL = new RegExp(SUSPICIOUS.source, 'gu');

/** Letters and marks of scripts in which U+200C and U+200D shape a word (UAX #31 section 2.3): Arabic to Mongolian. */
const JOINING = /[\u0620-\u08FF\u0900-\u0DFF\u0F00-\u109F\u1780-\u17DD\u1820-\u18AA\u1A20-\u1AAD\u1B00-\u1BFF\u1C00-\u1C4F\uA840-\uA877\uA8E0-\uA8FF\uA980-\uA9DF\uAA60-\uAA7F\uFB50-\uFDFF\uFE70-\uFEFC\u{10D00}-\u{10D27}\u{11000}-\u{11FFF}\u{1E900}-\u{1E94B}]/u;
/** What may stand before a joiner of an emoji sequence. */
const EMOJI_END = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F]/u;
const PICTOGRAPH = /\p{Extended_Pictographic}/u;
const FLAG_TAGS = /^\u{1F3F4}(?:\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073}))\u{E007F}/u;

/** Names are cut here, in characters. */
const NAME_CUT = 200;
/** Addresses are cut here, in characters. */
const URL_CUT = 500;

/**
 * `s` without what must not be in page text, on one line.
 * @param {string} s
 * @returns {string}
 */
function safeLine(s) {
  return SUSPICIOUS.test(s) ? s.replace(SUSPICIOUS_ALL, safeCharacterOfLine) : s;
}

/**
 * As `safeLine`, keeping tabs and line ends; U+2028 and U+2029 become line ends.
 * @param {string} s
 * @returns {string}
 */
function safeText(s) {
  return SUSPICIOUS.test(s) ? s.replace(SUSPICIOUS_ALL, safeCharacterOfText) : s;
}

/**
 * A name as replies hold it: clean, on one line, at most 200 characters and then `…`.
 * @param {string} s
 * @returns {string}
 */
function safeName(s) {
  return cutTo(safeLine(s), NAME_CUT);
}

/** @type {(c: string, at: number, s: string) => string} */
function safeCharacterOfLine(c, at, s) {
  return c === '\n' || c === '\t' || c === '\r' || c === '\f' || c === '\u2028' || c === '\u2029' ? ' ' : safeCharacter(c, at, s);
}

/** @type {(c: string, at: number, s: string) => string} */
function safeCharacterOfText(c, at, s) {
  if (c === '\n' || c === '\t') return c;
  return c === '\u2028' || c === '\u2029' ? '\n' : safeCharacter(c, at, s);
}

/**
 * What a suspicious character becomes: itself where its neighbours make it legitimate, U+FFFD for half a pair, else nothing.
 * @param {string} c
 * @param {number} at
 * @param {string} s
 */
function safeCharacter(c, at, s) {
  const code = c.codePointAt(0) ?? 0;
  if (code >= 0xD800 && code <= 0xDFFF) return '\uFFFD';
  if (code === 0x200D || code === 0x200C) {
    const before = characterBefore(s, at), after = characterAt(s, at + 1);
    if (JOINING.test(before) && JOINING.test(after)) return c;
    return code === 0x200D && EMOJI_END.test(before) && PICTOGRAPH.test(after) ? c : '';
  }
  if (code === 0xFE0F || code === 0xFE0E) {
    const before = characterBefore(s, at);
    // A keycap: digit, U+FE0F, U+20E3.
    return PICTOGRAPH.test(before) || (/[0-9#*]/.test(before) && s[at + 1] === '\u20E3') ? c : '';
  }
  // Standardized variants of ideographs, mathematical signs and Myanmar letters.
  if (code >= 0xFE00 && code <= 0xFE02) return /[\p{Script=Han}\p{Sm}\p{Script=Myanmar}]/u.test(characterBefore(s, at)) ? c : '';
  if (code >= 0xE0100 && code <= 0xE01EF) return /\p{Script=Han}/u.test(characterBefore(s, at)) ? c : '';
  if (code >= 0x180B && code <= 0x180F) return /[\u1820-\u18AA]/.test(characterBefore(s, at)) ? c : '';
  // Fillers of old Korean syllables, beside the letters they go with.
  if (code === 0x115F || code === 0x1160) return /[\u1100-\u11FF]/.test(characterBefore(s, at) + characterAt(s, at + 1)) ? c : '';
  if (code >= 0xE0020 && code <= 0xE007F) {
    // A tag stands only inside one of the flags of England, Scotland and Wales: look back to the black flag.
    const flag = s.lastIndexOf('\u{1F3F4}', at);
    const tags = flag >= 0 && at - flag <= 12 ? FLAG_TAGS.exec(s.slice(flag, flag + 14)) : null;
    return tags && at < flag + tags[0].length ? c : '';
  }
  return '';
}

/** @param {string} s @param {number} at */
function characterBefore(s, at) {
  const code = s.charCodeAt(at - 1);
  return code >= 0xDC00 && code <= 0xDFFF && at > 1 ? s.slice(at - 2, at) : s.slice(at - 1, at);
}

/** @param {string} s @param {number} at */
function characterAt(s, at) {
  const code = s.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}

/**
 * The first `max` characters (code points) of `s`, then `…` where there were more.
 * @param {string} s
 * @param {number} max
 */
function cutTo(s, max) {
  if (s.length <= max) return s;
  let units = 0;
  for (let i = 0; i < max && units < s.length; i++) units += (s.codePointAt(units) ?? 0) > 0xFFFF ? 2 : 1;
  return units < s.length ? s.slice(0, units) + '…' : s;
}
