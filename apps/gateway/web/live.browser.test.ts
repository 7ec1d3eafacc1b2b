import { createOpenAIEmulator } from "@clew/providers/testing";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { emulatedModel } from "../src/testing/gateway.ts";
import { barriers, hasBrowser, startPageGateway, usePages } from "./testing/browser.ts";

const STORY = "The keeper of the light at Skerry counted the boats, and one was missing. ".repeat(
  12,
);

describe.skipIf(!hasBrowser)("a turn under way, in a browser", () => {
  const { openPage } = usePages();

  interface Answer {
    text?: string;
    chunkChars?: number;
    pauseMs?: number;
  }

  async function start(...answers: Answer[]) {
    const server = await createOpenAIEmulator({ answers });
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
    await page.locator(".status-turns", { hasText: "1 running" }).waitFor();
    const early = (await reply.textContent())?.length ?? 0;
    expect(early).toBeLessThan(STORY.length);
    await expect.poll(async () => (await reply.textContent())?.length ?? 0).toBeGreaterThan(early);
    // The reply takes 14 s of its own.
    await page.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: 90_000 });
    expect((await reply.textContent())?.trim()).toBe(STORY.trim());
    expect(await page.locator(".person").count()).toBe(1);
  });

  it("is followed by eight tabs of one browser over one connection, whichever of them goes", async () => {
    const { url, gateway } = await start({ text: STORY, chunkChars: 10, pauseMs: 400 });
    const { page: first } = await openPage(url);
    const others = await Promise.all(
      Array.from({ length: 7 }, async () => {
        const page = await first.context().newPage();
        await page.goto(url);
        await page.locator(".app").waitFor();
        return page;
      }),
    );
    await expect.poll(() => gateway.events.followers()).toBe(1);
    const sender = others[0]!;
    await sender.getByLabel("Message").fill("Tell me of Skerry.");
    await sender.keyboard.press("Enter");
    const written = (page: Page) => page.locator(".reply", { hasText: "The keeper" }).waitFor();
    await Promise.all([first, ...others].map(written));
    // Each still has the gateway's answers.
    for (const page of others)
      expect(await page.evaluate(async () => (await fetch("/api/health")).status)).toBe(200);

    // The first one leads: it was the first to come.
    await first.close();
    const early = await Promise.all(others.map((page) => page.locator(".reply").textContent()));
    for (const [at, page] of others.entries())
      await expect
        .poll(async () => (await page.locator(".reply").textContent())!.length, {
          timeout: 120_000,
        })
        .toBeGreaterThan(early[at]!.length);
    expect(gateway.events.followers()).toBe(1);
    for (const page of others) {
      await page.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: 90_000 });
      expect((await page.locator(".reply").textContent())?.trim()).toBe(STORY.trim());
    }
  }, 240_000);

  it("is over in a tab that opens while the others still read how it ended", async () => {
    const { url } = await start({ text: "All boats are back." });
    const { page: first } = await openPage(url);
    const reading = Promise.withResolvers<void>();
    onTestFinished(() => reading.resolve());
    await first.route(
      ({ pathname }) => pathname === "/api/sessions",
      async (route) => {
        await reading.promise;
        await route.continue().catch(() => {});
      },
    );
    await first.getByLabel("Message").fill("Are they?");
    await first.keyboard.press("Enter");
    await first.locator(".reply", { hasText: "All boats are back." }).waitFor();
    await first.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: 90_000 });

    const page = await first.context().newPage();
    await page.goto(url);
    await page.locator(".reply", { hasText: "All boats are back." }).waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: 90_000 });
    await page.getByText("Thinking…").waitFor({ state: "hidden" });
    expect(await page.getByRole("region", { name: "Being sent now" }).count()).toBe(0);
  });

  it("leaves all that is shown as legible as ever while the next one is written", async () => {
    const { url } = await start(
      { text: "Skerry is a rock." },
      { text: STORY, chunkChars: 20, pauseMs: 400 },
    );
    const { page } = await openPage(url);
    await page.getByLabel("Message").fill("What is Skerry?");
    await page.keyboard.press("Enter");
    // What the first call was given stays beside the second.
    await page.locator(".context .group").first().waitFor();
    await page.getByLabel("Message").fill("Tell me of Skerry.");
    await page.keyboard.press("Enter");
    await page.locator(".context[data-older=true]").waitFor();
    await page.getByRole("region", { name: "Being sent now" }).waitFor();
    expect(await barriers(page)).toEqual([]);
  });

  it("costs in the session's figures what its calls cost, one by one", async () => {
    const told = { usage: { prompt: 6000, completion: 40, cached: 3000 } };
    const look = { name: "list_files", arguments: {} };
    const server = await createOpenAIEmulator({
      answers: [
        { toolCalls: [look], ...told },
        { text: STORY, chunkChars: 10, pauseMs: 400, ...told },
      ],
    });
    onTestFinished(() => server.close());
    const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
    const { url, gateway } = await startPageGateway({
      config: emulatedModel(server.baseUrl, { cost }),
    });
    const { page } = await openPage(`${url}/#main/calls`);
    const over = gateway.send({ key: "main", content: "Look at the clock, and tell me." });
    const figures = page.locator(".inspect-sums");
    await page.getByRole("region", { name: "Call 1.2 as sent" }).waitFor();
    // Of the first call, while the second is being answered.
    await figures.getByText("$0.0105").waitFor();
    await figures.getByText("50 %").waitFor();
    await page.getByText("running: not answered yet").waitFor();
    await over;
    await figures.getByText("$0.0210").waitFor();
  });

  it("shows what is sent before the model has answered", async () => {
    const { url } = await start({ text: STORY, chunkChars: 20, pauseMs: 400 });
    const { page } = await openPage(url);
    await page.getByLabel("Message").fill("Tell me of Skerry.");
    await page.keyboard.press("Enter");
    const sent = page.getByRole("region", { name: "Being sent now" });
    await sent.waitFor();
    expect(await sent.textContent()).toMatch(/(to|by) emulated\/emulated: [\d,]+ of [\d,]+ tokens/);
    await page.getByRole("button", { name: "Calls", exact: true }).click();
    await page
      .getByRole("region", { name: "Inspector" })
      .getByText("emulated/emulated")
      .first()
      .waitFor();
    // It is opened as any call is, and stays open when it is over.
    await sent.getByRole("button", { name: "call 1.1" }).click();
    const opened = page.getByRole("region", { name: "Call 1.1 as sent" });
    await opened.getByText("running: not answered yet").waitFor();
    await opened.locator(".row", { hasText: "Tell me of Skerry." }).waitFor();
    await page.locator("#transcript .row", { hasText: "Tell me of Skerry." }).waitFor();
    await opened.getByText(/running/).waitFor({ state: "hidden", timeout: 90_000 });
    expect(new URL(page.url()).hash).toContain("1.1");
  });
});
