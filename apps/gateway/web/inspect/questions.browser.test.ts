import { describe, expect, it } from "vitest";
import { formatCount } from "../../src/conversation/format.ts";
import type { Usage } from "../../src/costs/usage.ts";
import type { CallPage } from "../../src/inspect/shapes/calls.ts";
import type { FoundText } from "../../src/inspect/shapes/found-text.ts";
import type { CallView } from "../../src/inspect/shapes/one-call.ts";
import { hasBrowser, usePages } from "../testing/browser.ts";
import { inspectedSession, PLANTED } from "../testing/inspected-session.ts";
import { describeFound } from "./found.ts";
import { describeCost, describeShare, sumOf, sumOfUsage } from "./ledger.ts";

const TWO = 2;

// The page is loaded a dozen times, which takes minutes on a busy machine.
describe.skipIf(!hasBrowser)("what people ask of the page", () => {
  const { openPage } = usePages();

  it("is answered from the first page in at most two actions, by the figures of the API", async () => {
    const { url, get } = await inspectedSession();
    const { calls } = await get<CallPage>("/calls");
    const [last, before] = [calls.at(-1)!, calls.at(-2)!];
    const view = await get<CallView>(`/calls/${last.id}`);
    const third = await get<CallView>("/calls/3.17");
    const found = await get<FoundText>(`/find?text=${PLANTED}`);
    const { page } = await openPage(url);
    const inspector = page.getByRole("region", { name: "Inspector" });

    let actions = 0;
    const begin = async () => {
      await page.goto("about:blank");
      await page.goto(url);
      await page.locator(".person").first().waitFor();
      actions = 0;
    };
    const act = async (action: Promise<void>) => {
      await action;
      actions++;
    };
    const openCalls = async () => {
      await act(page.getByRole("button", { name: "Calls", exact: true }).click());
      await inspector.locator("#sent .row").first().waitFor();
    };
    /** Typing words and Enter is one action. */
    const search = (words: string) =>
      act(
        page
          .getByRole("searchbox")
          .fill(words)
          .then(() => page.keyboard.press("Enter")),
      );
    const says = async (text: string) => {
      await inspector.getByText(text).filter({ visible: true }).first().waitFor();
      expect(actions).toBeLessThanOrEqual(TWO);
    };

    // What was sent in the last call?
    await begin();
    await openCalls();
    await says(`${view.items.length} items, counted by the provider.`);
    await says(formatCount(last.tokens.total));

    // And in call 17 of turn 3?
    await begin();
    await openCalls();
    await search("3.17");
    await says(`${third.items.length} items`);
    await says("Call 3.17");

    // What changed since the call before, and was the cached prefix kept?
    await begin();
    await openCalls();
    await says(`since ${before.id}`);
    await says(
      `${formatCount(last.tokens.total)} tokens, were ${formatCount(before.tokens.total)}`,
    );
    await says("refix kept");

    // What is missing, and what took it?
    await begin();
    await openCalls();
    await says(`${last.fates.all - last.fates.shown} of ${last.fates.all} entries not shown`);
    await act(inspector.getByRole("button", { name: /^in a summary/ }).click());
    await says("in summary");

    // What does a summary stand for?
    await begin();
    await openCalls();
    await act(inspector.locator("#sent .row").filter({ hasText: "summary" }).click());
    await says(`${view.summaries[0]?.covers?.entries} entries`);

    // What is it composed of?
    await begin();
    await openCalls();
    const legend = inspector.getByRole("list", { name: "Legend" });
    const parts = {
      ...({ System: "system", Tools: "tools", Summaries: "summaries" } as const),
      ...({ Messages: "messages", Replies: "replies", "Tool output": "toolOutput" } as const),
    };
    for (const [label, key] of Object.entries(parts)) {
      const text = `${label} ${formatCount(last.tokens[key])}`;
      await legend.getByText(text, { exact: true }).waitFor();
    }
    expect(actions).toBeLessThanOrEqual(TWO);

    // What did call, turn and session cost, and what came from the cache?
    await begin();
    await openCalls();
    const { total, untold } = await get<Usage>("/usage");
    const all = sumOfUsage(total, untold);
    await says(describeCost(all));
    await says(describeShare(all));
    const cell = (row: string, column: number) =>
      inspector.getByRole("row", { name: row }).getByRole("cell").nth(column).textContent();
    expect(await cell("cost", 0)).toBe(describeCost(sumOf([last])));
    expect(await cell("cost", 2)).toBe(describeCost(all));
    expect(await cell("from cache", 0)).toBe(describeShare(sumOf([last])));

    // Why did the engine decide so?
    await begin();
    await openCalls();
    for (const sentence of view.why) await says(sentence);
    await says("The request can be made again to the byte");

    // Where is a text, and when did it leave the view?
    await begin();
    await openCalls();
    await search(PLANTED);
    await says(describeFound(found));
    for (const { to } of found.shownIn) await says(`Last seen in call ${to}`);
    for (const { id } of found.lost) await says(`Gone in call ${id}`);

    // How is it exported?
    await begin();
    await openCalls();
    await act(inspector.getByText("Export", { exact: true }).click());
    const link = inspector.getByRole("link", { name: "Its request, as Clew recorded it" });
    const request = await page.request.get(`${url}${await link.getAttribute("href")}`);
    expect(Object.keys((await request.json()) as object)).toEqual([
      ...["model", "system", "tools", "messages"],
    ]);
    expect(actions).toBeLessThanOrEqual(TWO);

    // How is the engine, and what would a compaction do?
    await begin();
    await openCalls();
    await act(inspector.getByRole("tab", { name: "Engine", exact: true }).click());
    await says("legacy");
  }, 400_000);
});
