// Shows the books whose title or author holds the words asked for.
"use strict";

{
  const query = new URLSearchParams(location.search).get("q") ?? "";
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = BOOKS.filter((book) => {
    const text = `${book.title} ${book.author}`.toLowerCase();
    return words.length > 0 && words.every((word) => text.includes(word));
  });

  document.getElementById("q").value = query;
  document.getElementById("count").textContent = words.length === 0
    ? "Type a title or an author."
    : `${counted(found.length)} found for “${query}”.`;
  for (const book of found) {
    const link = document.createElement("a");
    link.href = `book.html?id=${book.id}`;
    link.textContent = book.title;
    const item = document.createElement("li");
    item.append(link, ` by ${book.author}`);
    document.getElementById("results").append(item);
  }
}
