"use strict";
// Keeps a page as the server would draw it now, and never touches what somebody types. Without it pages work as well.
(() => {
  const $ = (id) => document.getElementById(id);
  const regions = (root) => [...root.querySelectorAll("[data-live]")];
  const typing = (region) => [...region.querySelectorAll("textarea, input, select")].some(
    (field) => field.type !== "hidden" && !field.readOnly &&
      (field === document.activeElement || (field.defaultValue !== undefined && field.value !== field.defaultValue)));

  const output = (root) => root.querySelector("[data-grows]");
  const atEnd = (text) => text.scrollHeight - text.scrollTop - text.clientHeight < 40;
  const toEnd = (root) => { if (output(root)) output(root).scrollTop = output(root).scrollHeight; };

  // Adds what is new to an output that grows, so that a reader keeps the place and what is marked there.
  const CAP = 65536;
  function grown(region, fresh) {
    const [here, next] = [region, fresh].map(output);
    if (!here || !next || region.childElementCount !== fresh.childElementCount) return false;
    const [had, text] = [here.textContent, next.textContent];
    let at = text.startsWith(had) ? 0 : had.indexOf(text.slice(0, 200));
    while (at > 0 && !text.startsWith(had.slice(at))) at = had.indexOf(text.slice(0, 200), at + 1);
    if (at < 0 || !text.startsWith(had.slice(at))) return false;
    const follows = atEnd(here);
    here.append(text.slice(had.length - at));
    while (here.childNodes.length > 1 && here.textContent.length - here.firstChild.length > CAP) here.firstChild.remove();
    if (follows) toEnd(region);
    return true;
  }

  function put(region, fresh) {
    const open = new Set([...region.querySelectorAll("details[open]")].map((each) => each.id));
    const scrolled = [...region.querySelectorAll("[tabindex]")].map((each) => [each.id, each.scrollTop]);
    const follows = !output(region) || atEnd(output(region));
    const active = region.contains(document.activeElement) ? document.activeElement : null;
    const place = active && (active.tagName === "SUMMARY" ? active.parentElement.id : active.id || active.getAttribute("href"));
    region.replaceChildren(...document.importNode(fresh, true).childNodes);
    for (const each of region.querySelectorAll("details")) each.open = each.open || open.has(each.id);
    for (const [id, top] of scrolled) if (id && $(id)) $(id).scrollTop = top;
    if (follows) toEnd(region);
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
      if (!fresh || "same" in fresh.dataset || fresh.dataset.live === region.dataset.live) continue;
      if (typing(region)) { held = true; continue; }
      region.dataset.live = fresh.dataset.live;
      if (grown(region, fresh)) continue;
      put(region, fresh);
      if (region.id === "graph") reveal();
      changed = true;
    }
    document.title = page.title;
    $("changed").hidden = !held;
    if (changed || held) $("said").textContent = held ? "The page changed while you were typing." : "The page was updated.";
  }

  // Scrolls the drawing to where the work stands, unless some of that is in sight.
  function reveal() {
    const picture = $("picture");
    if (!picture) return;
    const seen = picture.getBoundingClientRect();
    const here = [...picture.querySelectorAll(".here")].map((each) => each.getBoundingClientRect());
    if (!here.length || here.some((each) => each.left >= seen.left && each.right <= seen.right)) return;
    picture.scrollLeft += here[0].left - seen.left - 24;
  }

  // What happens is shown at most this often, and never later than that: a steady flow of steps puts nothing off.
  const GAP = 400;
  const LATE = 1000;
  let busy = false;
  let again = false;
  async function refresh() {
    timer = 0;
    if (busy) { again = true; return; }
    busy = true;
    last = performance.now();
    try {
      // Regions that are here already come back empty.
      const known = regions(document).map((region) => `${region.id}=${region.dataset.live}`).join(",");
      const headers = { Accept: "text/html", "X-Regions": known };
      const answer = await fetch(location.href, { headers, redirect: "error" });
      if (answer.ok) apply(await answer.text());
    } catch { /* The stream tells that the connection is lost. */ }
    busy = false;
    const took = performance.now() - last;
    behind(took > LATE ? took : 0);
    if (again) { again = false; soon(); }
  }
  let timer = 0;
  let last = -GAP;
  const soon = () => { timer ||= setTimeout(refresh, Math.max(60, last + GAP - performance.now())); };

  // Says when the server takes so long that the page shows what was a while ago.
  function behind(took) {
    const live = $("live");
    if (live.dataset.on === "yes") live.textContent = took ? `Behind by ${Math.ceil(took / 1000)} s` : "Live";
  }

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
  // Signs of life and outputs are no events; where agents are shown at work, the page is looked at again now and then.
  let second = 0;
  setInterval(() => {
    second += 1;
    if (!document.hidden && document.querySelector(second % 10 ? "[data-ticks='1']" : "[data-ticks]")) soon();
  }, 1000);
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
  // Keys for those who read a lot: / search, j and k rows, g i inbox, g s sessions, g p projects, ? what there is.
  const PLACES = { i: "/", s: "/sessions", p: "/projects" };
  let going = 0;
  const rows = () => [...document.querySelectorAll("[data-row]")].map((row) => row.matches("a") ? row : row.querySelector("a"));
  function step(by) {
    const all = rows();
    const at = all.indexOf(document.activeElement);
    const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
    if (next) next.focus();
  }
  // The turns of a lane are too many for Tab: the arrows go from one link of a row to the next.
  const ALONG = { ArrowLeft: -1, ArrowRight: 1 };
  function along(by) {
    const row = by && document.activeElement.closest("[data-row]");
    const all = row ? [...row.querySelectorAll("a")] : [];
    const next = all[all.indexOf(document.activeElement) + by];
    if (next) next.focus();
    return Boolean(next);
  }
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, textarea, select, [contenteditable]");
    if (field || event.ctrlKey || event.metaKey || event.altKey) return;
    const place = going && performance.now() - going < 1500 && PLACES[event.key];
    going = event.key === "g" ? performance.now() : 0;
    if (place) location.href = place;
    else if (event.key === "/" && document.querySelector("[data-key='/']")) document.querySelector("[data-key='/']").focus();
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "?") { if ($("keys").open) $("keys").close(); else $("keys").showModal(); }
    else if (!along(ALONG[event.key])) return;
    event.preventDefault();
  });
  // Escape closes the menu that holds the focus, or else the one that was opened last.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.defaultPrevented || $("keys").open) return;
    const within = event.target.closest("details[open]");
    const open = within || [...document.querySelectorAll("details.menu[open]")].pop();
    if (!open || (event.target.matches("textarea, input, select") && event.target.value)) return;
    open.open = false;
    open.querySelector("summary").focus();
    event.preventDefault();
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

  // What an act did is there when the page opens, which screen readers do not tell by themselves.
  if ($("did")) setTimeout(() => { $("said").textContent = $("did").textContent; }, 300);

  times(document);
  setInterval(() => times(document), 30000);
  reveal();
  toEnd(document);
  if (!document.hidden) connect();
})();
