import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { formatCount } from "../../src/conversation/format.ts";
import { ownDollars } from "../../src/inspect/cost-with-sides.ts";
import type { CallPage, CallRow } from "../../src/inspect/shapes/calls.ts";
import type { EntryPage } from "../../src/inspect/shapes/entries.ts";
import type { CallView } from "../../src/inspect/shapes/one-call.ts";
import { barriers, hasBrowser, startPageGateway, usePages } from "../testing/browser.ts";
import { CALLS, inspectedSession, PLANTED } from "../testing/inspected-session.ts";

const column = (page: Page, number: 1 | 2 | 3) => page.locator(`#column-${number}`);
const rows = (page: Page, list: string) => page.locator(`#${list} .row`);
const hashOf = (page: Page) => new URL(page.url()).hash;
const search = async (page: Page, words: string) => {
  await page.getByRole("searchbox").fill(words);
  await page.keyboard.press("Enter");
};

describe.skipIf(!hasBrowser)("the inspector in a browser", () => {
  const { openPage } = usePages();

  it("shows any call as it was sent, under an address that leads back to it", async () => {
    const { url, get } = await inspectedSession();
    const { page, errors, foreign } = await openPage(url);
    await page.getByRole("button", { name: "Calls", exact: true }).click();
    await page.getByRole("slider", { name: "Calls" }).waitFor();
    const { calls, sums } = await get<CallPage>("/calls");
    expect(await page.locator(".inspect-head h2").textContent()).toBe(
      `Calls ${calls.length} in ${sums.turns} turns`,
    );

    await search(page, `call ${CALLS} of turn 3`);
    const sent = page.getByRole("region", { name: `Call 3.${CALLS} as sent` });
    await sent.waitFor();
    const { row, items } = await get<CallView>(`/calls/3.${CALLS}`);
    expect(await sent.locator(".group-tokens").textContent()).toBe(formatCount(row.tokens.total));
    expect(Number(await rows(page, "sent").first().getAttribute("aria-setsize"))).toBe(
      items.length,
    );
    await column(page, 1).getByText(`All ${row.fates.all} entries are shown.`).waitFor();
    await column(page, 3)
      .getByRole("heading", { name: `since 3.${CALLS - 1}` })
      .waitFor();
    await expect.poll(() => hashOf(page)).toBe(`#main/calls/3.${CALLS}`);

    await rows(page, "sent").filter({ hasText: PLANTED }).click();
    await column(page, 3).getByText(`The code of the gate is ${PLANTED}.`).first().waitFor();
    const shown = await column(page, 3).textContent();
    await page.reload();
    await column(page, 3).getByText("as sent in call").waitFor();
    expect(await column(page, 3).textContent()).toBe(shown);
    expect({ errors, foreign }).toEqual({ errors: [], foreign: [] });
  });

  it("follows a summary to the entries that it stands for, and those to their text", async () => {
    const { url, get } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await rows(page, "sent").filter({ hasText: "summary" }).click();
    const { calls } = await get<CallPage>("/calls");
    const { row, summaries } = await get<CallView>(`/calls/${calls.at(-1)?.id}`);
    const [summary] = summaries;
    const covered = formatCount(summary?.covers?.entries ?? 0);
    const opened = column(page, 3);
    await opened.getByText(`${covered} entries`).waitFor();
    expect(await opened.locator("pre").textContent()).toBe(summary?.text);

    await opened.getByRole("button", { name: "Show them in the transcript" }).click();
    await expect
      .poll(() => rows(page, "transcript").first().getAttribute("aria-setsize"))
      .toBe(String(row.fates.summary));
    await rows(page, "transcript").filter({ hasText: PLANTED }).click();
    await opened.getByText(`Summary ${summary?.summaryId} stands in its place.`).waitFor();
    await opened.getByText(`The code of the gate is ${PLANTED}.`).waitFor();
    await expect.poll(() => hashOf(page)).toContain("entry=");
    await opened.getByRole("button", { name: "Open the summary" }).click();
    await opened.getByRole("heading", { name: `Summary ${summary?.summaryId}` }).waitFor();
  });

  it("says of an opened entry when it left, by what and in which call, and how it came back", async () => {
    const { url, gateway } = await inspectedSession();
    await gateway.command("main", { kind: "command", name: "compact", args: "undo" });
    await gateway.send({ key: "main", content: "And now?" });
    const { page, errors } = await openPage(`${url}/#main/calls`);
    await page.getByRole("region", { name: "Call 11.1 as sent" }).waitFor();
    await rows(page, "sent").filter({ hasText: PLANTED }).click();
    await column(page, 3).getByRole("button", { name: "As stored, and its way" }).click();
    const way = column(page, 3).getByRole("list", { name: "Its way from call to call" });
    const steps = way.getByRole("listitem");
    await steps.nth(2).waitFor();
    expect(await steps.allTextContents()).toEqual([
      "Shown from call 1.1 to 8.1 (24 calls): shown as it is stored",
      expect.stringMatching(/^Left in call 10\.1: in summary \w+ \(20.* UTC; compaction: /),
      expect.stringMatching(/^Back in call 11\.1: shown as it is stored \(20.* UTC; .*undone/),
    ]);
    await way.getByRole("button", { name: "10.1" }).click();
    await column(page, 3).getByText("stands in its place").waitFor();
    await expect.poll(() => hashOf(page)).toMatch(/calls\/10\.1\?entry=/);
    expect(errors).toEqual([]);
  });

  it("shows the newest end of the transcript, also of a reply that has just come", async () => {
    const { url, gateway } = await inspectedSession();
    const { page } = await openPage(url);
    await page.locator(".person").first().waitFor();
    await page.getByLabel("Message").fill("The gate is shut.");
    await page.keyboard.press("Enter");
    await page.locator(".person", { hasText: "The gate is shut." }).waitFor();
    await page.getByRole("button", { name: "Calls", exact: true }).click();
    const list = page.locator("#transcript");
    const below = () => list.evaluate((it) => it.scrollHeight - it.scrollTop - it.clientHeight);
    const inSight = async (text: string) => {
      await rows(page, "transcript").filter({ hasText: text }).waitFor();
      await expect.poll(below).toBeLessThanOrEqual(1);
    };
    await inSight("The gate is shut.");
    for (const text of ["It is open.", "It is shut again."]) {
      await gateway.send({ key: "main", content: text });
      await inSight(text);
    }
    expect(await rows(page, "transcript").filter({ hasText: "…" }).count()).toBe(0);
  });

  it("tells how the engine is after it was given another chance, and what came of that", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    let retries = 0;
    const session = () => ({
      setAside: retries === 0 ? {} : null,
      deliveries: { pending: 0, blocked: [] },
    });
    await page.route(/\/api\/engine\?/, (route) =>
      route.fulfill({
        json: {
          ...{ engineId: "brittle", quarantined: [], session: session() },
          text: retries === 0 ? "brittle is set aside" : "brittle answers",
        },
      }),
    );
    await page.route(/engine\/retry$/, (route) => {
      retries++;
      return route.fulfill({ json: { text: "It has another chance." } });
    });
    await page.getByRole("tab", { name: "Engine", exact: true }).click();
    await page.getByText("brittle is set aside").waitFor();
    await page.getByRole("button", { name: /^Try again/ }).click();
    await page.getByText("brittle answers").waitFor();
    await page.getByText("It has another chance.").waitFor();
    expect(await page.getByText("brittle is set aside").count()).toBe(0);
  });

  it("says of every entry what became of it, and adds up", async () => {
    const { url, get } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    const filters = column(page, 1).getByRole("group");
    await filters.getByRole("button", { name: /^in a summary/ }).waitFor();
    const { calls } = await get<CallPage>("/calls");
    const { fates, id } = calls.at(-1)!;
    const missing = fates.all - fates.shown;
    await column(page, 1)
      .getByText(`${missing} of ${fates.all} entries not shown: ${fates.summary} in a summary`)
      .waitFor();
    await filters.getByRole("button", { name: /^shown/ }).click();
    await expect
      .poll(() => rows(page, "transcript").first().getAttribute("aria-setsize"))
      .toBe(String(fates.shown));
    const { entries } = await get<EntryPage>(`/entries?call=${id}&fate=shown`);
    expect(await rows(page, "transcript").first().locator(".row-number").textContent()).toBe(
      String(entries[0]?.number),
    );
    await expect.poll(() => hashOf(page)).toBe("#main/calls?fate=shown");
  });

  it("tells what changed between two calls, of which one is chosen with Shift", async () => {
    const { url, get } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    const changes = column(page, 3);
    await changes.locator('[data-change="removed"]').first().waitFor();
    await changes.getByText("tokens, were").waitFor();
    await page.keyboard.press("Shift+ArrowLeft");
    const { calls } = await get<CallPage>("/calls");
    const before = calls.at(-3)?.id;
    await page.getByRole("region", { name: `Changes since ${before}` }).waitFor();
    await expect.poll(() => hashOf(page)).toBe(`#main/calls?from=${before}`);
    await changes.locator('[data-change="removed"]').first().click();
    await changes.getByRole("heading", { name: `as sent in call ${before}` }).waitFor();
  });

  it("leads to the dearest, the fullest and any named call or turn in one step", async () => {
    const { url, get } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    const shows = (id = "") =>
      page.getByRole("region", { name: `Call ${id} as sent`, exact: true }).waitFor();
    await shows("10.1");
    const { calls, peaks } = await get<CallPage>("/calls");
    const own = ({ cost }: CallRow) => (cost === null ? 0 : ownDollars(cost));
    const most = Math.max(...calls.map(own));
    expect(peaks.dearest?.dollars).toBe(most);
    await page.getByRole("button", { name: "dearest" }).click();
    await shows(peaks.dearest?.id);
    await page.getByRole("button", { name: "fullest" }).click();
    await shows(peaks.fullest?.id);
    await page.keyboard.press("$");
    await shows(peaks.dearest?.id);
    await search(page, "t3 c17");
    await shows("3.17");
    await search(page, "turn 3");
    await shows("3.1");
    await expect.poll(() => hashOf(page)).toBe("#main/calls/3.1");
    await page.evaluate(() => history.back());
    await shows("3.17");
    await page.goto(`${url}/#main/calls/t5`);
    await shows("5.1");
    await expect.poll(() => hashOf(page)).toBe("#main/calls/5.1");
    // The turn of a compaction by command.
    await page.goto(`${url}/#main/calls/9`);
    await page.getByRole("alert").filter({ hasText: "Turn 9 called no model." }).waitFor();
  });

  it("compares any two calls: named at once, by a box, or by holding one", async () => {
    const { url } = await inspectedSession();
    const { page, errors } = await openPage(`${url}/#main/calls`);
    const since = (id: string) => page.getByRole("region", { name: `Changes since ${id}` });
    await since("8.1").waitFor();
    await search(page, "1.1..3.9");
    await since("1.1").waitFor();
    await expect.poll(() => hashOf(page)).toBe("#main/calls/3.9?from=1.1");
    await page.keyboard.press("v");
    await page.keyboard.type("t3 c2");
    await page.keyboard.press("Enter");
    await since("3.2").waitFor();
    await page.getByRole("button", { name: "since the call before" }).click();
    await since("3.8").waitFor();
    const hold = page.getByRole("button", { name: "compare", exact: true });
    await hold.click();
    await column(page, 3).getByText("Go to any other call").waitFor();
    await search(page, "7.1");
    await since("3.9").waitFor();
    await page.keyboard.press("]");
    await page.getByRole("region", { name: "Call 8.1 as sent" }).waitFor();
    await since("3.9").waitFor();
    await page.keyboard.press("m");
    await since("7.1").waitFor();
    expect(errors).toEqual([]);
  });

  it("links the same entry in all columns under the pointer", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls/3.${CALLS}`);
    const linked = rows(page, "transcript").and(page.locator("[data-linked=true]"));
    await rows(page, "transcript").first().waitFor();
    await page.locator("#transcript").focus();
    await page.keyboard.press("Home");
    await rows(page, "sent").filter({ hasText: "Minka" }).hover();
    await linked.filter({ hasText: "Minka" }).waitFor();
    expect(await linked.count()).toBe(1);
  });

  it("names a compaction and asks before it is undone, and says when there is no other", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await page.getByRole("tab", { name: "Compaction" }).click();
    const answer = page.getByRole("status", { name: "Answer: Compaction" });
    await page.getByRole("button", { name: "Preview" }).click();
    await answer
      .locator("pre")
      .filter({ hasText: /Would summarise|Nothing/ })
      .waitFor();
    await page.getByRole("button", { name: "Undo the last one" }).click();
    await answer.getByText(/^Would undo the compaction of .* messages in a summary/).waitFor();
    const leave = page.getByRole("button", { name: "Leave it" });
    await expect.poll(() => leave.evaluate((it) => it === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await leave.waitFor({ state: "detached" });
    const undo = page.getByRole("button", { name: "Undo the last one" });
    await expect.poll(() => undo.evaluate((it) => it === document.activeElement)).toBe(true);
    await undo.click();
    await page.getByRole("button", { name: "Undo it" }).click();
    await answer.getByText(/^Undone: the compaction of .* There is no other to undo/).waitFor();
    await answer.getByRole("button", { name: "Copy" }).waitFor();
    await undo.click();
    await answer.getByText("There is no compaction to undo.").waitFor();
    expect(await page.getByRole("button", { name: "Undo it" }).count()).toBe(0);
  });

  it("stops playing at one click, and asks for nothing more", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    let asked = 0;
    await page.route("**/whatif", () => void asked++);
    await page.getByRole("tab", { name: "What if" }).click();
    await page.getByRole("button", { name: "Play it" }).click();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("status", { name: "Answer: What if" }).getByText("Stopped.").waitFor();
    await page.getByRole("button", { name: "Play it" }).waitFor();
    expect(asked).toBe(1);
  });

  it("plays the session again in another window, and tells what it would have been", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await page.getByRole("tab", { name: "What if" }).click();
    await page.getByLabel("Window").fill("16000");
    await page.getByRole("button", { name: "Play it" }).click();
    const answer = page.getByRole("status", { name: "Answer: What if" });
    await answer.getByText("legacy in a window of 16,000:").waitFor();
    await answer.getByText("The largest call:").waitFor();
  });

  it("compares a shadow engine with the one that answers, by an address of its own", async () => {
    const config = { agents: { defaults: { shadowEngine: "lossless" } } };
    const { url, gateway } = await startPageGateway({ config });
    const { page } = await openPage(`${url}/#main/calls?show=shadow`);
    await page.getByText("No model was called in this session yet").waitFor();
    await gateway.send({ key: "main", content: "My cat is called Minka." });
    await gateway.send({ key: "main", content: "What is my cat called?" });
    await page.getByText("2 calls in 2 turns were compared").waitFor({ timeout: 90_000 });
    const row = page.getByRole("row", { name: /^tokens per call/ });
    expect(await row.getByRole("cell").allTextContents()).toEqual([
      expect.stringMatching(/^[\d,]+$/),
      expect.stringMatching(/^[\d,]+$/),
      expect.stringMatching(/%$/),
    ]);
    await page.getByRole("list", { name: "Legend" }).getByText("━ lossless").waitFor();
    expect(await hashOf(page)).toBe("#main/calls?show=shadow");
  });

  it("hands out the session's file as it is stored", async () => {
    const { url, gateway } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await page.getByText("Export", { exact: true }).click();
    const link = page.getByRole("link", { name: "The whole session" });
    expect(await link.getAttribute("href")).toBe("/api/sessions/main/transcript");
    const saved = await page.request.get(`${url}/api/sessions/main/transcript`);
    const { file } = (await gateway.store.find("main"))!;
    expect(await saved.text()).toBe(await readFile(file, "utf8"));
    expect(saved.headers()["content-disposition"]).toBe('attachment; filename="main.jsonl"');
  });

  it("is gone through by keys alone, which the help tells", async () => {
    const { url, get } = await inspectedSession();
    const { page } = await openPage(`${url}/#main`);
    await page.locator(".person").first().waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("i");
    await page.getByRole("slider", { name: "Calls" }).waitFor();
    await column(page, 2).waitFor();
    const { calls } = await get<CallPage>("/calls");
    const steps = page.locator(".steps output");
    for (const [key, id] of [
      ["[", calls.at(-2)?.id],
      ["ArrowLeft", calls.at(-3)?.id],
      ["]", calls.at(-2)?.id],
      ["<", "1.1"],
      [">", calls.at(-1)?.id],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(() => steps.textContent()).toBe(id);
    }
    await page.getByRole("region", { name: `Call ${calls.at(-1)?.id} as sent` }).waitFor();
    await page.keyboard.press("2");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("sent");
    await page.keyboard.press("j");
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await column(page, 3).getByText("Thank you.").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("region", { name: /^Changes since/ }).waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("3.2");
    await page.keyboard.press("Enter");
    await expect.poll(() => steps.textContent()).toBe("3.2");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).getByText("the call before").first().waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    await page.keyboard.press("c");
    await page.getByLabel("Message").waitFor();
    await expect.poll(() => hashOf(page)).toBe("#main");
  });

  it("asks a fresh home for nothing that is not there", async () => {
    const { url } = await startPageGateway();
    const { page, errors } = await openPage(`${url}/#main/calls`);
    await page.getByText("No model was called in this session yet").waitFor();
    await page.keyboard.press("c");
    await page.getByLabel("Message").waitFor();
    expect(errors).toEqual([]);
  });

  it("shows a dozen rows of each list on a small screen, and remembers what was folded", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`, {
      viewport: { width: 1280, height: 720 },
    });
    await rows(page, "sent").first().waitFor();
    for (const list of ["transcript", "sent"]) {
      const height = await page.locator(`#${list}`).evaluate((it) => it.clientHeight);
      const { height: row } = (await rows(page, list).first().boundingBox())!;
      expect(height / row).toBeGreaterThanOrEqual(12);
    }
    const panel = page.getByRole("tabpanel");
    expect(await panel.count()).toBe(0);
    await page.keyboard.press("b");
    await panel.waitFor();
    await page.reload();
    await panel.waitFor();
    await page.getByRole("button", { name: "Fold", exact: true }).click();
    await panel.waitFor({ state: "detached" });
    // A tab unfolds it, and its key takes the focus there.
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Play it" }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.id);
    await expect.poll(focused).toBe("dock-what-if");
  });

  it("takes the focus to what was searched for or opened, and back", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.id);
    await search(page, "3.5");
    await page.getByRole("region", { name: "Call 3.5 as sent" }).waitFor();
    await expect.poll(focused).toBe("sent");
    await search(page, PLANTED);
    await page.getByRole("region", { name: "Found" }).getByRole("button").first().click();
    await expect.poll(focused).toBe("column-3");
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("sent");
    await page.keyboard.press("1");
    await expect.poll(focused).toBe("transcript");
    await page.keyboard.press("Home");
    await rows(page, "transcript").filter({ hasText: PLANTED }).first().waitFor();
    await page.keyboard.press("e");
    await expect.poll(focused).toBe("column-3");
    await column(page, 3).getByText(`The code of the gate is ${PLANTED}.`).first().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("transcript");
    await page.locator("#changes").focus();
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await column(page, 3).getByText("as sent in call").waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(focused).toBe("changes");
    const menu = page.locator("details.exports");
    await page.getByText("Export", { exact: true }).click();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Escape");
    expect(await menu.getAttribute("open")).toBeNull();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Export");
    expect(await hashOf(page)).toContain("calls/3.5");
  });

  it("tells number, sources and cost of the call under the pointer", async () => {
    const { url, get } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    const plot = (await page.getByRole("slider", { name: "Calls" }).boundingBox())!;
    await page.mouse.move(plot.x + plot.width / 2, plot.y + 40);
    const tip = page.locator(".plot-tip");
    await tip.waitFor();
    const { calls } = await get<CallPage>("/calls");
    const text = (await tip.textContent()) ?? "";
    const row = calls.find(({ id }) => text.startsWith(`Call ${id},`))!;
    expect(text).toContain(`${formatCount(row.tokens.total)} of `);
    expect(text).toContain(`Tool output ${formatCount(row.tokens.toolOutput)}`);
    expect(text).toContain(`Cost $${ownDollars(row.cost!).toFixed(4)}`);
    await page.mouse.move(plot.x, plot.y + plot.height + 200);
    await tip.waitFor({ state: "detached" });
  });

  it("never compares a call with itself", async () => {
    const { url, get } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    const { calls } = await get<CallPage>("/calls");
    const [before, last] = [calls.at(-2)?.id, calls.at(-1)?.id];
    const since = (id = "") => page.getByRole("region", { name: `Changes since ${id}` });
    await since(before).waitFor();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowLeft");
    await since(calls.at(-3)?.id).waitFor();
    await page.keyboard.press("Shift+ArrowRight");
    await page.keyboard.press("Shift+ArrowRight");
    await since(before).waitFor();
    expect(await since(last).count()).toBe(0);
  });

  it("says in a sentence that there is no such call", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls/99.1`);
    await page
      .getByRole("alert")
      .filter({ hasText: "There is no call 99.1 in this session; the newest one is 10.1." })
      .waitFor();
    await page.getByRole("button", { name: "Show the newest call" }).click();
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);

    const told = (text: string) => page.getByRole("alert").filter({ hasText: text }).waitFor();
    await page.goto(`${url}/#main/calls/2.1?from=88.8`);
    await told("There is no call 88.8 in this session to compare with; the newest one is 10.1.");
    await column(page, 3).getByText("There is no call 88.8 to compare with.").waitFor();
    await page.goto(`${url}/#main/calls/abc`);
    await told("There is no call abc in this session; the newest one is 10.1.");
    expect(await page.getByText("Reading").count()).toBe(0);
    await page.goto(`${url}/#nosuch/calls/1.1`);
    await told("There is no call 1.1: no model was called in this session.");
  });

  it("waits for no answer that will not come, but says why and what to do", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    // As for a call whose report was let go meanwhile.
    await page.route(/\/calls\/3\.(4\/diff\/3\.)?5\b/, (route) => route.fulfill({ status: 404 }));
    await search(page, "3.5");
    await column(page, 2).getByText("The gateway can tell nothing of call 3.5").waitFor();
    await column(page, 3).getByText("“clew doctor” names damaged files").waitFor();
    expect(await page.getByText("Reading").count()).toBe(0);
  });

  it("goes back step by step, and forward again", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(url);
    await page.getByRole("button", { name: "Calls", exact: true }).click();
    await page.getByRole("slider", { name: "Calls" }).waitFor();
    await search(page, "3.5");
    await page.getByRole("region", { name: "Call 3.5 as sent" }).waitFor();
    await rows(page, "sent").filter({ hasText: PLANTED }).click();
    await column(page, 3).getByText("as sent in call").waitFor();
    await expect.poll(() => hashOf(page)).toContain("item=");
    const goBack = () => page.evaluate(() => history.back());
    await goBack();
    await expect.poll(() => hashOf(page)).toBe("#main/calls/3.5");
    await column(page, 3).getByRole("heading", { name: "since 3.4" }).waitFor();
    await goBack();
    await expect.poll(() => hashOf(page)).toBe("#main/calls");
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    await goBack();
    await expect.poll(() => hashOf(page)).toBe("#main");
    await page.getByLabel("Message").waitFor();
    await page.evaluate(() => history.go(2));
    await page.getByRole("region", { name: "Call 3.5 as sent" }).waitFor();
  });

  it("goes with ↓ into what a search found, and shows an entry in the transcript beside it", async () => {
    const { url } = await inspectedSession();
    // An address that names no call leads to the newest one then.
    const { page } = await openPage(`${url}/#main/calls/77.7`);
    await search(page, PLANTED);
    const hit = page.getByRole("region", { name: "Found" }).getByRole("button").first();
    await hit.waitFor();
    const number = (await hit.textContent())!.trim().split(/\s/)[0]!;
    await page.keyboard.press("ArrowDown");
    expect(await hit.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await column(page, 3).getByText("as stored").first().waitFor();
    await rows(page, "transcript")
      .filter({ has: page.locator(".row-number", { hasText: new RegExp(`^${number}$`) }) })
      .waitFor();
    expect(hashOf(page)).not.toContain("77.7");
  });

  it("takes another search for another question, and the keys of columns to what is read", async () => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`);
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    await search(page, PLANTED);
    const found = page.getByRole("region", { name: "Found" });
    await found.getByRole("status").waitFor();
    await page.getByRole("searchbox").press("Home");
    await page.keyboard.type("x");
    await found.waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.keyboard.press("/");
    await page.keyboard.type("new");
    expect(await page.getByRole("searchbox").inputValue()).toBe("new");
    await page.keyboard.press("Escape");
    const focused = () => page.evaluate(() => document.activeElement?.id);
    await page.keyboard.press("1");
    await expect.poll(focused).toBe("transcript");
    await page.keyboard.press("3");
    await expect.poll(focused).toBe("changes");
  });

  it.each([
    ["wide", 1280, "light"],
    ["wide", 1280, "dark"],
    ["narrow", 360, "light"],
    ["narrow", 360, "dark"],
  ] as const)("has no barriers for anybody: %s (%d pixels), %s", async (_, width, colorScheme) => {
    const { url } = await inspectedSession();
    const { page } = await openPage(`${url}/#main/calls`, {
      viewport: { width, height: 800 },
      colorScheme,
    });
    await rows(page, "sent").first().waitFor();
    expect(await barriers(page)).toEqual([]);
    await rows(page, "sent").filter({ hasText: "summary" }).click();
    await column(page, 3).getByText("Made by").waitFor();
    expect(await barriers(page)).toEqual([]);
    if (width < 760) {
      await page.locator(".ledger td").first().waitFor();
      const below = await page
        .locator(".dock-panel")
        .evaluate((it) => [it.scrollWidth, it.clientWidth]);
      expect(below[0]).toBe(below[1]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await page.getByRole("button", { name: "Transcript", exact: true }).click();
      await rows(page, "transcript").filter({ hasText: "Thank you." }).waitFor();
      expect(await barriers(page)).toEqual([]);
    }
    for (const tab of ["Compaction", "Engine", "Shadow engine", "Sessions below", "What if"]) {
      await page.getByRole("tab", { name: tab, exact: true }).click();
      expect(await barriers(page)).toEqual([]);
    }
    await page.getByRole("button", { name: "Keys" }).click();
    expect(await barriers(page)).toEqual([]);
  });
});
