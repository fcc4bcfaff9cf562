// Each slide is made as large as 1280 x 720 allows, once, before reveal.js hides all but one.
(async () => {
  await window.MathJax.startup.promise;
  // An answer stands open. Of several on one slide, a quiz, one opens at a time.
  for (const slide of document.querySelectorAll(".slides section")) {
    const answers = slide.querySelectorAll("details");
    if (slide.querySelector("section") || !answers.length) continue;
    if (answers.length === 1) answers[0].open = true;
    else answers.forEach(one => { one.name = "quiz"; });
  }
  for (const slide of document.querySelectorAll(".slides section")) {
    if (slide.querySelector("section")) continue;
    const room = document.createElement("div"), page = document.createElement("div");
    room.className = "room";
    page.className = "page";
    page.append(...slide.childNodes);
    room.append(page);
    slide.append(room);
    const fits_now = () => page.getBoundingClientRect().height <= room.clientHeight
      && page.scrollWidth <= page.clientWidth;
    const choices = [...page.querySelectorAll("details[name]")];
    const fits = size => {
      page.style.zoom = size;
      return fits_now() && choices.every(one => {
        one.open = true;
        const fit = fits_now();
        one.open = false;
        return fit;
      });
    };
    let small = 0.4, large = 1.4;
    if (fits(large)) continue;
    while (large - small > 0.01) {
      const middle = (small + large) / 2;
      if (fits(middle)) small = middle; else large = middle;
    }
    fits(small);
  }
  document.body.classList.remove("measuring");
  for (const film of document.querySelectorAll(".film")) film.setAttribute("data-prevent-swipe", "");
  // A film keeps its keys to itself, but a presenter's remote sends these two.
  addEventListener("keydown", event => {
    if (!event.target.closest(".film") || !/^Page(Up|Down)$/.test(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "PageDown") Reveal.next(); else Reveal.prev();
  }, true);
  await Reveal.initialize({
    width: 1280, height: 720, margin: 0, center: false, hash: true, slideNumber: "c/t",
    navigationMode: "linear", transition: "none", controlsTutorial: false,
  });
  document.documentElement.dataset.ready = "true";
})();
