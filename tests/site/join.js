// Checks the form in the page and says in words what is missing.
"use strict";

{
  const form = document.getElementById("join");
  const wants = {
    name: "Enter your full name.",
    email: "Enter an email address such as ada@example.org.",
    pin: "Enter four digits.",
    rules: "Tick the box to join.",
  };

  form.addEventListener("submit", (event) => {
    const wrong = [];
    for (const [id, text] of Object.entries(wants)) {
      const field = document.getElementById(id);
      const bad = !field.validity.valid;
      field.setAttribute("aria-invalid", String(bad));
      document.getElementById(`${id}-error`).textContent = bad ? text : "";
      if (bad) wrong.push(field);
    }
    document.getElementById("problems").textContent = wrong.length === 0
      ? ""
      : `The form has ${wrong.length} ${wrong.length === 1 ? "problem" : "problems"}.`;
    if (wrong.length > 0) {
      event.preventDefault();
      wrong[0].focus();
    } else {
      document.getElementById("pin").disabled = true; // a PIN does not belong in a URL
    }
  });
}
