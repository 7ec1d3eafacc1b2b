import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel } from "../src/testing/gateway.ts";
import { hasBrowser, startPageGateway, usePages } from "./testing/browser.ts";

const STORY = "The keeper of the light at Skerry counted the boats, and one was missing. ".repeat(
  12,
);

describe.skipIf(!hasBrowser)("a turn under way, in a browser", () => {
  const { openPage } = usePages();

  async function start(answer: { text?: string; chunkChars?: number; pauseMs?: number }) {
    const server = await createOpenAIEmulator({ answers: [answer] });
    onTestFinished(() => server.close());
    return startPageGateway({ config: emulatedModel(server.baseUrl) });
  }

  it("is joined by a second tab, which shows the reply so far and follows it to its end", async () => {
    const { url } = await start({ text: STORY, chunkChars: 10, pauseMs: 150 });
    const first = await openPage(url);
    await first.page.getByLabel("Message").fill("Tell me of Skerry.");
    await first.page.keyboard.press("Enter");
    await first.page.locator(".reply", { hasText: "The keeper" }).waitFor();

    const { page } = await openPage(url);
    const reply = page.locator(".reply");
    await reply.filter({ hasText: "The keeper" }).waitFor();
    await page.locator(".person", { hasText: "Tell me of Skerry." }).waitFor();
    const early = (await reply.textContent())?.length ?? 0;
    expect(early).toBeLessThan(STORY.length);
    await expect.poll(async () => (await reply.textContent())?.length ?? 0).toBeGreaterThan(early);
    // The reply takes 14 s of its own.
    await page.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: 90_000 });
    expect((await reply.textContent())?.trim()).toBe(STORY.trim());
    expect(await page.locator(".person").count()).toBe(1);
  });

  it("shows what is sent before the model has answered", async () => {
    const { url } = await start({ text: STORY, chunkChars: 20, pauseMs: 400 });
    const { page } = await openPage(url);
    await page.getByLabel("Message").fill("Tell me of Skerry.");
    await page.keyboard.press("Enter");
    const sent = page.getByRole("region", { name: "Being sent now" });
    await sent.waitFor();
    expect(await sent.textContent()).toMatch(/to emulated\/emulated: [\d,]+ of [\d,]+ tokens/);
    await page.getByRole("button", { name: "Calls", exact: true }).click();
    await page
      .getByRole("region", { name: "Inspector" })
      .getByText("emulated/emulated")
      .first()
      .waitFor();
  });
});
