import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TurnReport } from "@clew/engine-core";
import { createOpenAIEmulator } from "@clew/providers/testing";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { openReportLog, readLastRequest } from "../src/reports/report-log.ts";
import { emulatedModel } from "../src/testing/gateway.ts";
import { temporaryHome } from "../src/testing/home.ts";
import { obedientModel, run } from "../src/testing/obedient-model.ts";
import { engineCode, writePlugin } from "../src/testing/plugins.ts";
import {
  barriers,
  hasBrowser,
  say,
  startPageGateway as startGateway,
  usePages,
} from "./testing/browser.ts";

describe.skipIf(!hasBrowser)("the page in a browser", () => {
  const { openPage } = usePages();

  const contextOf = (page: Page) => page.getByRole("region", { name: "What the model saw" });
  const numbersIn = async (page: Page, selector: string) =>
    (await contextOf(page).locator(selector).allTextContents()).map((text) =>
      Number(text.replaceAll(",", "")),
    );
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

  it("chats, lists what the model saw and how much that was, opens items, and has it all after a reload", async () => {
    const { url, home } = await startGateway();
    await mkdir(join(home, "agents/main/workspace"), { recursive: true });
    const { page, errors, foreign } = await openPage(url);
    await say(page, "My cat is called Minka.");
    await say(page, "What is my cat called?");
    await page.locator(".reply", { hasText: "“My cat is called Minka.”" }).waitFor();

    const panel = contextOf(page);
    await panel.locator(".item", { hasText: "What is my cat called?" }).waitFor();
    const tokens = await numbersIn(page, ".item-tokens");
    expect(tokens.length).toBeGreaterThanOrEqual(7);
    expect(tokens.every((count) => count > 0)).toBe(true);
    // The items are estimated, the whole was counted.
    const [total = 0] = await numbersIn(page, ".total");
    expect(Math.abs(sum(tokens) - total)).toBeLessThan(0.05 * total);
    expect(sum(await numbersIn(page, ".group-tokens"))).toBe(sum(tokens));
    expect(sum(await numbersIn(page, ".legend dd"))).toBe(200_000);
    expect(await panel.getByText("Engine legacy").isVisible()).toBe(true);
    expect((await panel.locator(".item-reason").allTextContents()).slice(-3)).toEqual([
      "history",
      "history",
      "prompt",
    ]);

    const first = panel.locator(".item", { hasText: "My cat is called Minka." }).first();
    expect(await first.locator(".item-source").textContent()).toMatch(/^entry [0-9a-f]{8}$/);
    await first.getByRole("button").click();
    expect(await first.locator("pre").textContent()).toBe("My cat is called Minka.");

    await page.setViewportSize({ width: 1280, height: 400 });
    await panel.getByRole("button", { name: "Prompt", exact: true }).click();
    await expect
      .poll(() =>
        panel
          .locator(".item", { hasText: "What is my cat called?" })
          .evaluate((item) => item.getBoundingClientRect().top < innerHeight),
      )
      .toBe(true);

    const shown = await page.getByRole("log").textContent();
    await page.reload();
    await page.locator(".reply").nth(1).waitFor();
    expect(await page.getByRole("log").textContent()).toBe(shown);
    expect(await numbersIn(page, ".item-tokens")).toEqual(tokens);
    expect({ errors, foreign }).toEqual({ errors: [], foreign: [] });
  });

  it("shows a reply while it arrives, stops it with Escape, and its tools and their failures", async () => {
    const server = await createOpenAIEmulator({
      answers: [
        {
          text: "Let me look.",
          toolCalls: [
            { name: "search_workspace", arguments: { query: "harbour" } },
            { name: "read_file", arguments: { path: "gone.md" } },
          ],
        },
        { text: "It is **Ondine**." },
        { fault: "hang", text: "I begin" },
      ],
    });
    onTestFinished(() => server.close());
    const { url, home } = await startGateway({ config: emulatedModel(server.baseUrl) });
    await mkdir(join(home, "agents/main/workspace"), { recursive: true });
    await writeFile(
      join(home, "agents/main/workspace/harbour.md"),
      "The harbour master is called Ondine Brack.\n",
    );
    const { page, errors } = await openPage(url);
    await say(page, "Who is the harbour master?");
    expect(
      await page
        .locator(".tool")
        .evaluateAll((tools) => tools.map((tool) => (tool as HTMLElement).dataset.state)),
    ).toEqual(["done", "failed"]);
    await page.locator(".tool summary").first().click();
    expect(await page.locator(".tool").first().textContent()).toContain("Ondine Brack");
    expect(await page.locator(".reply strong").textContent()).toBe("Ondine");
    await contextOf(page).getByRole("button", { name: "Prompt + its tools" }).waitFor();

    await page.getByLabel("Message").fill("one");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("two");
    await page.keyboard.press("Enter");
    await page.locator(".reply", { hasText: "I begin" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".ending.stopped").waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    expect(await page.locator(".person").nth(1).textContent()).toBe("one\ntwo");
    expect(errors).toEqual([]);
  });

  it("shows markup in anybody's words as words", async () => {
    const hostile =
      "<img src=x onerror=document.title='gone'> [link](javascript:alert(1)) ![p](https://elsewhere.example/p.png)";
    const server = await createOpenAIEmulator({ answers: [{ text: hostile }] });
    onTestFinished(() => server.close());
    const { url } = await startGateway({ config: emulatedModel(server.baseUrl) });
    const { page, errors, foreign } = await openPage(url);
    await say(page, hostile);
    await say(page, "and again");
    expect(await page.locator(".reply").first().textContent()).toContain("<img src=x onerror");
    expect(await page.locator("img, .column script, a[href^=javascript]").count()).toBe(0);
    expect(await page.title()).toBe("main · Clew");
    expect({ errors, foreign }).toEqual({ errors: [], foreign: [] });
  });

  it("keeps sessions apart and in the address", async () => {
    const { url } = await startGateway();
    const { page } = await openPage(url);
    await say(page, "My cat is called Minka.");
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("heading", { name: "Say something" }).waitFor();
    await say(page, "My dog is called Rex.");
    expect(new URL(page.url()).hash).toBe("#chat-1");
    await page
      .getByRole("navigation", { name: "Sessions" })
      .getByRole("button", { name: "main" })
      .click();
    await page.locator(".person", { hasText: "Minka" }).waitFor();
    await page.goBack();
    await page.locator(".person", { hasText: "Rex" }).waitFor();
  });

  it("asks for tools that change something, wherever they are asked for, once its link was opened", async () => {
    const { config } = await obedientModel();
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "plugin"), {
      manifest: { contracts: { tools: ["change"] } },
      code: `export default (api) => api.registerTool({ name: "change", description: "", parameters: {},
        execute: () => ({ content: [{ type: "text", text: "changed" }] }) });`,
    });
    const plugins = { load: { paths: [folder] } };
    const { url, link } = await startGateway({ config: { ...config, plugins }, home });
    const { page, errors } = await openPage(url);
    await say(page, "hello");
    const waiting = page.getByRole("alert", { name: "Waiting for your answer" });
    await page.getByLabel("Message").fill(run("change", { file: "a\u202etxt.b" }));
    await page.keyboard.press("Enter");
    await waiting.waitFor();
    expect(await waiting.textContent()).toContain("change waits for your answer until");
    expect(await waiting.textContent()).toContain(String.raw`"file": "a\u202etxt.b"`);
    expect(await waiting.textContent()).toContain("clew approvals link");
    expect(await waiting.getByRole("button").count()).toBe(0);

    await page.goto(link);
    await waiting.getByRole("button", { name: "Allow once" }).click();
    await waiting.waitFor({ state: "detached" });
    await page.locator(".reply", { hasText: "result: changed" }).waitFor();
    expect(errors).toEqual([]);
  });

  it("says loudly that another engine than the configured one answered", async () => {
    const { url, home, gateway } = await startGateway();
    await gateway.send({ key: "main", content: "My cat is called Minka." });
    const session = await gateway.session("main");
    const folder = join(home, "agents/main/reports");
    const last = await readLastRequest(folder, session?.sessionId ?? "");
    if (last === null) throw new Error("the turn left no report");
    const degraded = { operation: "assemble", reason: "its store is corrupt" };
    const report: TurnReport = {
      ...last.report,
      engine: { ...last.report.engine, configured: "lossless", degraded },
    };
    const log = openReportLog(folder, last.report.sessionId);
    await log.append(report, {});
    await log.close();
    const { page } = await openPage(url);
    const alarm = page
      .getByRole("alert")
      .filter({ hasText: "lossless is not running; legacy answered instead" });
    await alarm.waitFor();
    expect(await alarm.textContent()).toContain("its store is corrupt");
  });

  it("says at once that an engine is set aside, and keeps saying so until it gets another chance", async () => {
    const server = await createOpenAIEmulator({
      answers: [{ fault: "hang", text: "I begin" }],
    });
    onTestFinished(() => server.close());
    const home = await temporaryHome();
    const code = engineCode("frail", 'assemble: async () => { throw new Error("no disk"); },');
    const folder = writePlugin(join(home, "sources/frail"), { id: "frail", code });
    const plugins = { load: { paths: [folder] }, slots: { contextEngine: "frail" } };
    const { url } = await startGateway({
      config: { ...emulatedModel(server.baseUrl), plugins },
      home,
    });
    const { page } = await openPage(url);
    await page.getByLabel("Message").fill("Are you there?");
    await page.keyboard.press("Enter");
    await page.locator(".reply", { hasText: "I begin" }).waitFor();
    expect(await page.locator(".notice").allTextContents()).toEqual([
      expect.stringMatching(
        /^Engine "frail" failed \(assemble: no disk, at index\.js:\d+\); another one answers\.$/,
      ),
    ]);
    await page.keyboard.press("Escape");
    const alarm = page.getByRole("alert").filter({ hasText: "frail failed, and another one" });
    await alarm.waitFor();
    expect(await alarm.textContent()).toContain("“/engine retry” gives it another chance.");
    expect(await contextOf(page).textContent()).toContain("until it failed in this turn");
    await page.reload();
    await alarm.waitFor();

    await page.getByLabel("Message").fill("/engine retry");
    await page.keyboard.press("Enter");
    await page
      .getByRole("article", { name: "Answer to /engine retry" })
      .getByText('"frail" is no longer set aside for this session.')
      .waitFor();
    await expect.poll(() => alarm.textContent()).toContain("the next message tries it again");
  });

  it("says that the gateway is gone, keeps the message, and goes on when it is back", async () => {
    const first = await startGateway();
    const { page } = await openPage(first.url);
    await say(page, "My cat is called Minka.");
    await first.stop();
    await page.getByText("The gateway is not answering.").waitFor();
    await page.getByLabel("Message").fill("What is my cat called?");
    await page.keyboard.press("Enter");
    await startGateway({ home: first.home, port: first.port });
    await page.getByText("The gateway is not answering.").waitFor({ state: "detached" });
    expect(await page.getByLabel("Message").inputValue()).toBe("What is my cat called?");
    await page.keyboard.press("Enter");
    await page.locator(".reply", { hasText: "Minka" }).waitFor();
  });

  it("fits a screen of 360 pixels: one side at a time, nothing cut off", async () => {
    const { url } = await startGateway();
    const { page } = await openPage(url, {
      viewport: { width: 360, height: 640 },
      colorScheme: "dark",
    });
    await say(page, `A long word: ${"x".repeat(200)}`);
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    expect(await width()).toBe(360);
    expect(await contextOf(page).isVisible()).toBe(false);
    await page.getByRole("button", { name: "What it saw" }).click();
    expect(await contextOf(page).isVisible()).toBe(true);
    expect(await width()).toBe(360);
    await page.getByRole("button", { name: /^Session/ }).click();
    await page.getByRole("button", { name: "New session" }).click();
    await page.getByRole("heading", { name: "Say something" }).waitFor();
  });

  it("keeps the answers of commands in the conversation, to be copied", async () => {
    const { url } = await startGateway();
    const { page, errors } = await openPage(url, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await say(page, "My cat is called Minka.");
    const box = page.getByLabel("Message");
    await box.fill("/status");
    await page.keyboard.press("Enter");
    const answer = page.getByRole("article", { name: "Answer to /status" });
    await answer.waitFor();
    await say(page, "What is my cat called?");
    const articles = () => page.locator(".column > article").allTextContents();
    await expect
      .poll(articles)
      .toEqual([
        ...["My cat is called Minka.", expect.any(String)],
        expect.stringMatching(/^\/statusCopyModel: offline\/offline/),
        ...["What is my cat called?", expect.stringContaining("Minka")],
      ]);
    await answer.getByRole("button", { name: "Copy" }).click();
    await answer.getByRole("button", { name: "Copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
      await answer.locator("pre").textContent(),
    );
    expect(errors).toEqual([]);
  });

  it.each([
    ["wide", 1280, "light"],
    ["wide", 1280, "dark"],
    ["narrow", 360, "light"],
    ["narrow", 360, "dark"],
  ] as const)("has no barriers for anybody: %s (%d pixels), %s", async (_, width, colorScheme) => {
    const server = await createOpenAIEmulator({
      answers: [
        {
          text: "Let me look.",
          toolCalls: [{ name: "read_file", arguments: { path: "gone.md" } }],
        },
        {
          text: "# No\n\nIt is *gone*:\n\n```\nls gone.md\n```\n\n- see [this](https://example.com)",
        },
      ],
    });
    onTestFinished(() => server.close());
    const { url } = await startGateway({ config: emulatedModel(server.baseUrl) });
    const { page } = await openPage(url, { viewport: { width, height: 800 }, colorScheme });
    expect(await barriers(page)).toEqual([]);
    await say(page, "What is in gone.md?");
    await page.getByLabel("Message").fill("/status");
    await page.keyboard.press("Enter");
    await page.locator(".answer").waitFor();
    await page.locator(".tool summary").first().click();
    expect(await barriers(page)).toEqual([]);
    // So low that the conversation scrolls.
    await page.setViewportSize({ width, height: 320 });
    await expect
      .poll(() => page.locator(".messages").evaluate((box) => box.scrollHeight > box.clientHeight))
      .toBe(true);
    expect(await barriers(page)).toEqual([]);
    await page.setViewportSize({ width, height: 800 });
    if (width > 760) return;
    await page.getByRole("button", { name: "What it saw" }).click();
    expect(await barriers(page)).toEqual([]);
  });
});
