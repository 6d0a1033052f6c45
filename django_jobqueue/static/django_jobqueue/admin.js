/* What a list gains with JavaScript: a box that chooses all rows, and a count of the chosen. Without it each row has its own box. */
"use strict";

document.addEventListener("DOMContentLoaded", () => {
    const acts = document.querySelector("#jq-list .jq-acts");
    const boxes = Array.from(document.querySelectorAll("#jq-list input.jq-choose"));
    if (!acts || !boxes.length) {
        return;
    }
    const counter = acts.querySelector(".jq-selected");
    const all = document.createElement("input");
    all.type = "checkbox";
    all.setAttribute("aria-label", acts.dataset.all);
    document.querySelector("#result_list thead .column-choose_cell .text").replaceChildren(all);

    function tell() {
        const chosen = boxes.filter((box) => box.checked).length;
        counter.textContent = chosen ? `${chosen} ${acts.dataset.selected}` : "";
        all.checked = chosen === boxes.length;
        all.indeterminate = chosen > 0 && chosen < boxes.length;
        boxes.forEach((box) => box.closest("tr").classList.toggle("jq-is-chosen", box.checked));
    }

    all.addEventListener("change", () => {
        boxes.forEach((box) => {
            box.checked = all.checked;
        });
        tell();
    });
    boxes.forEach((box) => box.addEventListener("change", tell));
    // The browser's own "back" brings choices with it.
    window.addEventListener("pageshow", tell);
});
