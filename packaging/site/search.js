"use strict";
(() => {
  const box = document.getElementById("search-words");
  const list = document.getElementById("search-found");
  const most = 12;
  let rows;

  function load() {
    if (rows) return Promise.resolve(rows);
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = "search-index.js";
      script.onload = () => done(rows = window.searchIndex.map(row => ({page: row[0], title: row[1], link: row[2], text: row[3],
                                                                       forUsers: row[4], low: row.slice(0, 4).join(" ").toLowerCase()})));
      script.onerror = failed;
      document.head.append(script);
    });
  }

  function worth(row, words) {
    let sum = 0;
    const title = row.title.toLowerCase();
    for (const word of words) {
      if (!row.low.includes(word)) return 0;
      const bare = title.replace(/^-+/, "");
      if (title === word || bare === word.replace(/^-+/, "") || title.split(/[ ,=]/).includes(word)) sum += 60;
      else if (bare.startsWith(word.replace(/^-+/, ""))) sum += 40;
      else if (title.includes(word)) sum += 20;
      else sum += 1 + Math.min(4, row.low.split(word).length - 2);
    }
    return sum + 12 * row.forUsers - Math.min(5, row.text.length / 2000);
  }

  function marked(element, text, words) {
    const parts = text.split(new RegExp("(" + words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "i"));
    parts.forEach((part, i) => {
      if (i % 2) element.appendChild(document.createElement("mark")).textContent = part;
      else element.append(part);
    });
    return element;
  }

  function show(words, found) {
    list.replaceChildren(...found.slice(0, most).map(row => {
      const item = document.createElement("li");
      const link = item.appendChild(document.createElement("a"));
      link.href = row.link;
      marked(link.appendChild(document.createElement("b")), row.title || row.page, words);
      if (row.title && row.title !== row.page) link.append(" ", Object.assign(document.createElement("i"), {textContent: row.page}));
      const at = Math.max(0, row.text.toLowerCase().indexOf(words[0]) - 60);
      marked(link.appendChild(document.createElement("span")), (at ? "…" : "") + row.text.slice(at, at + 180), words);
      return item;
    }));
    if (!found.length) list.appendChild(document.createElement("li")).textContent = "Nothing is found; try fewer or shorter words.";
    list.hidden = false;
  }

  async function search() {
    const words = box.value.toLowerCase().split(/\s+/).filter(word => word);
    if (!words.length) { list.hidden = true; return; }
    const all = await load();
    show(words, all.map(row => [worth(row, words), row]).filter(one => one[0] > 0).sort((a, b) => b[0] - a[0]).map(one => one[1]));
  }

  box.addEventListener("input", search);
  box.form.addEventListener("submit", event => {
    event.preventDefault();
    const first = list.querySelector("a");
    if (first && !list.hidden) location = first.href;
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
    if (event.key === "Escape") { list.hidden = true; box.blur(); }
    if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !list.hidden) {
      const links = [...list.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      event.preventDefault();
      (links[at] || box).focus();
    }
  });
  list.addEventListener("click", () => { list.hidden = true; });
  const menu = document.querySelector("details.menu");
  menu.open = matchMedia("(min-width: 62rem)").matches;
  box.value = new URLSearchParams(location.search).get("q") || "";
  search();
})();
