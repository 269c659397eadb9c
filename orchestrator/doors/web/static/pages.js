"use strict";
// Keeps a page as the server would draw it now, and never touches what somebody types. Without it pages work as well.
(() => {
  const $ = (id) => document.getElementById(id);
  const regions = (root) => [...root.querySelectorAll("[data-live]")];
  const seen = new Map();
  const typing = (region) => [...region.querySelectorAll("textarea, input, select")].some(
    (field) => field.type !== "hidden" && !field.readOnly &&
      (field === document.activeElement || (field.defaultValue !== undefined && field.value !== field.defaultValue)));

  // Each form that begins something has another mark each time it is drawn; that changes nothing.
  const drawn = (region) => region.innerHTML.replace(/name="once" value="[^"]*"/g, "");
  const keep = () => regions(document).forEach((region) => seen.set(region.id, drawn(region)));

  function put(region, fresh) {
    const open = new Set([...region.querySelectorAll("details[open]")].map((each) => each.id));
    const scrolled = [...region.querySelectorAll("[tabindex]")].map((each) => [each.id, each.scrollTop]);
    const active = region.contains(document.activeElement) ? document.activeElement : null;
    const place = active && (active.tagName === "SUMMARY" ? active.parentElement.id : active.id || active.getAttribute("href"));
    region.replaceChildren(...document.importNode(fresh, true).childNodes);
    for (const each of region.querySelectorAll("details")) each.open = each.open || open.has(each.id);
    for (const [id, top] of scrolled) if (id && $(id)) $(id).scrollTop = top;
    if (place) {
      const next = [...region.querySelectorAll("a, button, summary, [tabindex]")].find((each) =>
        (each.tagName === "SUMMARY" ? each.parentElement.id : each.id || each.getAttribute("href")) === place);
      if (next) next.focus({ preventScroll: true });
    }
    times(region);
  }

  function apply(text) {
    const page = new DOMParser().parseFromString(text, "text/html");
    let changed = false;
    let held = false;
    for (const region of regions(document)) {
      const fresh = page.getElementById(region.id);
      if (!fresh || seen.get(region.id) === drawn(fresh)) continue;
      if (typing(region)) { held = true; continue; }
      seen.set(region.id, drawn(fresh));
      put(region, fresh);
      if (region.id === "graph") reveal();
      changed = true;
    }
    document.title = page.title;
    $("changed").hidden = !held;
    if (changed || held) $("said").textContent = held ? "The page changed while you were typing." : "The page was updated.";
  }

  // Says when the drawing is wider than its box.
  function measure() {
    const picture = $("picture");
    if (picture) $("wider").hidden = picture.scrollWidth <= picture.clientWidth;
  }

  // Scrolls the drawing to where the work stands, unless some of that is in sight.
  function reveal() {
    const picture = $("picture");
    if (!picture) return;
    measure();
    const seen = picture.getBoundingClientRect();
    const here = [...picture.querySelectorAll(".here")].map((each) => each.getBoundingClientRect());
    if (!here.length || here.some((each) => each.left >= seen.left && each.right <= seen.right)) return;
    picture.scrollLeft += here[0].left - seen.left - 24;
  }

  let busy = false;
  let again = false;
  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
      if (answer.ok) apply(await answer.text());
    } catch { /* The stream tells that the connection is lost. */ }
    busy = false;
    if (again) { again = false; soon(); }
  }
  let timer = 0;
  const soon = () => { clearTimeout(timer); timer = setTimeout(refresh, 60); };

  function state(connected) {
    const live = $("live");
    if (live.hidden || (live.dataset.on === "yes") !== connected) {
      if (!live.hidden) $("said").textContent = connected ? "Connected again." : "The connection is lost.";
      live.dataset.on = connected ? "yes" : "no";
      live.textContent = connected ? "Live" : "Not connected; trying again";
      live.hidden = false;
    }
  }

  let stream = null;
  let lost = false;
  const source = document.body.dataset.events && new URL(document.body.dataset.events, location.href);
  function connect() {
    if (!source || stream) return;
    stream = new EventSource(source);
    stream.onopen = () => { state(true); if (lost) { lost = false; soon(); } };
    stream.onerror = () => {
      lost = true;
      state(false);
      // A server that answered with an error ends the stream for good; it is asked again by us.
      if (stream && stream.readyState === EventSource.CLOSED) { stream = null; setTimeout(connect, 2000); }
    };
    for (const kind of ["decision", "change", "refusal"]) stream.addEventListener(kind, (event) => {
      source.searchParams.set("after", event.lastEventId);
      soon();
    });
  }
  // Signs of life are no events; where agents are shown at work, the page is looked at again now and then.
  setInterval(() => { if (!document.hidden && document.querySelector("[data-ticks]")) soon(); }, 10000);
  const disconnect = () => { if (stream) { stream.close(); stream = null; lost = true; } };

  // A page that nobody sees holds no connection: browsers have few for each server.
  document.addEventListener("visibilitychange", () => document.hidden ? disconnect() : connect());
  addEventListener("pagehide", disconnect);

  document.addEventListener("keydown", (event) => {
    const form = event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form;
    if (!form) return;
    const buttons = form.querySelectorAll("button");
    // Where several buttons decide, a key decides nothing.
    if (buttons.length === 1) { event.preventDefault(); form.requestSubmit(buttons[0]); }
  });
  document.addEventListener("submit", (event) => {
    if (event.target.dataset.sent) event.preventDefault();
    event.target.dataset.sent = "yes";
    setTimeout(() => { delete event.target.dataset.sent; }, 5000);
  });

  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
  const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const away = (minutes) => Math.abs(minutes) < 60
    ? relative.format(minutes, "minute") : relative.format(Math.round(minutes / 60), "hour");
  function times(root) {
    for (const each of root.querySelectorAll("time")) {
      const at = new Date(each.dateTime);
      const minutes = Math.round((at - Date.now()) / 60000);
      each.title = `${exact.format(at)} (${each.dateTime})`;
      // What is still to come is waited for, so that its exact time counts.
      each.textContent = minutes <= -1440 ? exact.format(at) : minutes < 0 ? away(minutes)
        : minutes === 0 ? "just now" : `${exact.format(at)} (${away(minutes)})`;
    }
  }

  keep();
  times(document);
  setInterval(() => times(document), 30000);
  reveal();
  addEventListener("resize", measure);
  if (!document.hidden) connect();
})();
