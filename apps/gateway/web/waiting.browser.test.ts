import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { heldModel } from "../src/testing/held-model.ts";
import { temporaryHome } from "../src/testing/home.ts";
import { barriers, hasBrowser, startPageGateway, usePages } from "./testing/browser.ts";

/** On a machine that is busy with much else. */
const SOON = { timeout: 60_000 };

const type = async (page: Page, text: string, keys = "Enter") => {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press(keys);
};

describe.skipIf(!hasBrowser)("messages that wait, in a browser", () => {
  const { openPage } = usePages();

  it("are listed in order with what becomes of them, taken back one by one or all, and have their turn", async () => {
    const model = await heldModel();
    const { url, gateway } = await startPageGateway({ config: model.config });
    const { page, errors } = await openPage(url);
    await type(page, "Count the boats.");
    const first = await model.asked();
    first.say("One, ");
    await page.locator(".reply", { hasText: "One," }).waitFor(SOON);

    const list = page.getByRole("region", { name: "Messages that wait" });
    const rows = async () => (await list.locator("li").allTextContents()).map((row) => row.trim());
    expect(await list.count()).toBe(0);
    await type(page, "Then the nets.");
    await list.locator("li", { hasText: "Then the nets." }).waitFor(SOON);
    await type(page, "Only the red ones.", "Control+Enter");
    await type(page, "And the oars.");
    await list.locator("li", { hasText: "And the oars." }).waitFor(SOON);
    expect(await rows()).toEqual([
      ...["Next:Then the nets.Take back", "Steers:Only the red ones.Take back"],
      "Next:And the oars.Take back",
    ]);
    expect(await barriers(page)).toEqual([]);

    await page.getByRole("button", { name: "Take back: Then the nets." }).click();
    await expect.poll(rows, SOON).toHaveLength(2);
    expect((await gateway.waiting.list("main")).map(({ text }) => text)).toEqual([
      ...["Only the red ones.", "And the oars."],
    ]);
    await page.getByRole("button", { name: "Take back all 2" }).click();
    await list.waitFor({ ...SOON, state: "hidden" });

    await type(page, "Last, the lamps.");
    await list.locator("li", { hasText: "Last, the lamps." }).waitFor(SOON);
    first.finish();
    const second = await model.asked();
    second.say("Seven lamps.");
    second.finish();
    await page.locator(".reply", { hasText: "Seven lamps." }).waitFor(SOON);
    await list.waitFor({ ...SOON, state: "hidden" });
    expect(await page.locator(".person").allTextContents()).toEqual([
      ...[expect.stringContaining("Count the boats."), expect.stringContaining("Last, the lamps.")],
    ]);
    expect(errors).toEqual([]);
  }, 180_000);

  it("are seen and taken back in another tab", async () => {
    const model = await heldModel();
    const { url } = await startPageGateway({ config: model.config });
    const { page } = await openPage(url);
    await type(page, "Count the boats.");
    const reply = await model.asked();
    await type(page, "Then the nets.");
    const shown = (tab: Page) => tab.locator(".waiting li", { hasText: "Then the nets." });
    await shown(page).waitFor(SOON);
    const { page: other } = await openPage(url);
    await shown(other).waitFor(SOON);
    await other.getByRole("button", { name: "Take back: Then the nets." }).click();
    await shown(other).waitFor({ ...SOON, state: "hidden" });
    await shown(page).waitFor({ ...SOON, state: "hidden" });
    reply.finish();
  }, 180_000);
});

describe.skipIf(!hasBrowser)("a long list of sessions, in a browser", () => {
  const { openPage } = usePages();

  it("is shown in parts, and searched by name with the rest of it", async () => {
    const home = await temporaryHome();
    const folder = join(home, "agents/main/sessions");
    await mkdir(folder, { recursive: true });
    const timestamp = "2026-01-01T00:00:00.000Z";
    const names = Array.from({ length: 230 }, (_, at) => `boat-${String(at).padStart(3, "0")}`);
    for (const name of [...names, "lighthouse"]) {
      const header = { type: "session", version: 3, id: name, timestamp, cwd: home };
      const line = JSON.stringify({ ...header, sessionKey: `agent:main:${name}` });
      await writeFile(join(folder, `${name}.jsonl`), `${line}\n`);
    }
    const { url } = await startPageGateway({ home });
    const { page } = await openPage(url);
    const rows = page.locator(".sessions li");
    const named = (name: string) => rows.filter({ hasText: name });
    // The one that is open, without a word yet, stands before them.
    await expect.poll(() => rows.count(), SOON).toBe(201);

    const find = page.getByRole("searchbox", { name: "Find a session" });
    await find.fill("LIGHT");
    await expect.poll(() => rows.count(), SOON).toBeLessThan(3);
    await named("lighthouse").waitFor(SOON);
    await named("lighthouse").getByRole("button").click();
    await page.locator('.sessions [aria-current="page"]', { hasText: "lighthouse" }).waitFor(SOON);
    // The field stays although what it leaves fits on one page.
    await find.fill("no such boat");
    await named("boat-")
      .first()
      .waitFor({ ...SOON, state: "hidden" });
    await find.fill("");
    await expect.poll(() => rows.count(), SOON).toBeGreaterThanOrEqual(200);
    await page.getByRole("button", { name: "Show more sessions" }).click();
    await expect.poll(() => rows.count(), SOON).toBe(231);
    expect(await page.getByRole("button", { name: "Show more sessions" }).count()).toBe(0);
  }, 180_000);
});
