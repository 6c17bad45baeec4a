// @ts-check
// stub
/** @param {any} args @returns {any} */
function text(args) {
  return { text: '', total_chars: 0, truncated: false };
}
