// Shows beside a link what it leads to, from PREVIEWS of previews_data.js, which the extension
// `previews` writes: on a mouse's rest or the keyboard's focus, never on touch. Escape closes it.
(() => {
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href).href;
  const article = document.querySelector(".bd-article");
  const tip = document.createElement("div");
  Object.assign(tip, { id: "preview", role: "tooltip", hidden: true });
  let shown = null, timer = 0, touched = false;

  // The data come as a script once a reader points at a link, since a folder's page may not fetch.
  let loading = null;
  const load = () => (loading ??= new Promise((done) => {
    const script = document.createElement("script");
    Object.assign(script, { src: `${root}_static/previews_data.js`, onload: done, onerror: done });
    document.head.append(script);
  }));

  // Pages without formulas come without MathJax.
  let formulas = null;
  const loadMath = () => (formulas ??= new Promise((done) => {
    if (document.querySelector("script[src*=mathjax]")) return done();
    window.MathJax = { startup: { typeset: false }, options: { enableMenu: false } };
    const script = document.createElement("script");
    const ready = () => (window.MathJax.startup.promise ?? Promise.resolve()).then(done);
    Object.assign(script, { src: `${root}_static/mathjax/tex-chtml-full.js`, onload: ready, onerror: done });
    document.head.append(script);
  }));

  function content(link) {
    const [page, anchor] = link.href.split("#");
    if (!anchor || !page.startsWith(root)) return "";
    return window.PREVIEWS?.[`${page.slice(root.length).split("?")[0]}#${decodeURIComponent(anchor)}`] ?? "";
  }

  function place(link) {
    const lines = link.getClientRects(), line = lines[lines.length - 1], margin = 8;
    const left = Math.min(line.left, document.documentElement.clientWidth - tip.offsetWidth - margin);
    const below = line.bottom + tip.offsetHeight + margin < innerHeight;
    tip.style.left = `${Math.max(margin, left)}px`;
    tip.style.top = `${below ? line.bottom + 4 : Math.max(margin, line.top - tip.offsetHeight - 4)}px`;
  }

  function hide() {
    clearTimeout(timer);
    asked = null;
    if (!shown) return;
    shown.removeAttribute("aria-describedby");
    tip.hidden = true;
    shown = null;
  }

  let asked = null;
  async function show(link) {
    asked = link;
    await load();
    if (link !== asked) return;
    const html = content(link), math = html.includes('class="math');
    if (math) await loadMath();
    if (link !== asked) return;
    if (!html || link === shown || (math && !window.MathJax?.typesetPromise)) return;
    hide();
    shown = link;
    tip.innerHTML = html;
    for (const image of tip.querySelectorAll("img")) {
      image.addEventListener("load", () => shown === link && place(link));
      image.src = root + image.getAttribute("src");
    }
    tip.hidden = false;
    link.setAttribute("aria-describedby", tip.id);
    place(link);
    if (math) await MathJax.typesetPromise([tip]);
    if (math && shown === link) place(link);
  }

  const wait = (action, time) => { clearTimeout(timer); timer = setTimeout(action, time); };
  const linkOf = (event) => event.target.closest("a[href]");
  if (!article) return;
  article.append(tip);
  article.addEventListener("pointerover", (event) => {
    touched = event.pointerType === "touch";
    const link = linkOf(event);
    if (tip.contains(event.target)) clearTimeout(timer);
    else if (link && !touched) wait(() => show(link), 250);
    else if (shown) wait(hide, 250);
    else clearTimeout(timer);
  });
  article.addEventListener("pointerleave", () => wait(hide, 250));
  article.addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible") && !touched) show(link);
  });
  article.addEventListener("focusout", hide);
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("scroll", () => shown && place(shown), { passive: true });
})();
