// Fills in one book and reserves it.
"use strict";

{
  const id = new URLSearchParams(location.search).get("id");
  const book = BOOKS.find((b) => b.id === id);
  const button = document.getElementById("reserve");
  const status = document.getElementById("status");
  const put = (name, text) => { document.getElementById(name).textContent = text; };

  if (book === undefined) {
    put("title", "No such book");
    button.disabled = true;
  } else {
    document.title = `${book.title} · Lantern Lane Library`;
    for (const name of ["title", "author", "about", "year", "pages", "shelf"]) put(name, book[name]);
    button.disabled = reserved().includes(book.id);
    button.addEventListener("click", () => {
      reserve([...reserved(), book.id]);
      button.disabled = true;
      status.textContent = `“${book.title}” is reserved for you until Sunday.`;
    });
  }
}
