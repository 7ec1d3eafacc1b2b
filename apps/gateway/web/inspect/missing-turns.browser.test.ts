import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { barriers, hasBrowser, startPageGateway, usePages } from "../testing/browser.ts";
import { inspectedSession } from "../testing/inspected-session.ts";

/** The session of which two turns have no report, as where a gateway was killed in them. */
async function withoutTurns() {
  const { home, stop } = await inspectedSession();
  await stop();
  const folder = join(home, "agents/main/reports");
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith(".jsonl"))!);
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.toSpliced(3, 2).join("\n"));
  return startPageGateway({ home });
}

describe.skipIf(!hasBrowser)("a session with turns that have no report, in a browser", () => {
  const { openPage } = usePages();

  it("names them, tells of each when asked, and shows all other calls", async () => {
    const { url } = await withoutTurns();
    const { page, errors } = await openPage(`${url}/#main/calls`);
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    const legend = page.getByRole("list", { name: "Legend" });
    await legend.getByText("Turns 4–5 have no report").click();
    await legend.getByText(/^The report of turn 4 of 20.* is missing: .*1 reply stored/).waitFor();
    await legend.getByText("a missing or damaged report hides calls").waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("searchbox").fill("turn 4");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "The report of turn 4 of " }).waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("button", { name: "Show the newest call" }).click();
    await page.getByRole("region", { name: "Call 10.1 as sent" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(errors).toEqual([]);
  });
});
