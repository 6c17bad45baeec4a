// Lists the reserved books; emptying the list asks first.
"use strict";

{
  const list = document.getElementById("reserved");
  const clear = document.getElementById("clear");

  const show = () => {
    const books = BOOKS.filter((book) => reserved().includes(book.id));
    document.getElementById("count").textContent = `${counted(books.length)} reserved.`;
    list.replaceChildren(...books.map((book) => {
      const link = document.createElement("a");
      link.href = `book.html?id=${book.id}`;
      link.textContent = book.title;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    clear.disabled = books.length === 0;
  };

  clear.addEventListener("click", () => {
    if (confirm(`Give back ${counted(reserved().length)}?`)) reserve([]);
    show();
  });
  show();
}
