// @ts-check
// Expected failures: values of the contract's shape, worded in one place so that they sound alike.

/**
 * @typedef {{error: string, message: string, hint?: string, data?: Record<string, unknown>}} Failure
 */

/**
 * @param {string} code one of the contract's codes
 * @param {string} message what happened, to what
 * @param {string} [hint] what to do next
 * @param {Record<string, unknown>} [data] the facts
 * @returns {Failure}
 */
function failure(code, message, hint, data) {
  return { error: code, message, hint, data };
}

/**
 * @param {unknown} value
 * @returns {value is Failure}
 */
function isFailure(value) {
  return typeof value === 'object' && value !== null && 'error' in value;
}

/**
 * Page text inside a message: quoted, on one line, at most 80 characters.
 * @param {string} text
 * @returns {string}
 */
function inQuotes(text) {
  const chars = Array.from(text.replace(/\s+/g, ' ').trim());
  return JSON.stringify(chars.length > 80 ? chars.slice(0, 79).join('') + '…' : chars.join(''));
}

/**
 * How messages name a described element: `n12 (button "Save")`.
 * @param {{ref?: string, role: string, name: string}} what
 * @returns {string}
 */
function wordsFor(what) {
  const title = what.name ? `${what.role} ${inQuotes(what.name)}` : what.role;
  return what.ref ? `${what.ref} (${title})` : title;
}

/**
 * `describe` for code that runs between animation frames, outside of a reading: its caches live for this one call.
 * @param {Element} el
 * @param {Lease} lease
 * @returns {{ref: string | undefined, role: string, name: string}}
 */
function described(el, lease) {
  beginReading();
  try {
    return describe(el, lease);
  } finally {
    endReading();
  }
}
