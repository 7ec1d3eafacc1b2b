// The command `pnpm bench page-scroll` for how long the page takes over a very long session.
import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { type Browser, chromium, type Page } from "playwright-core";
import { newHome, startGateway, writeSession } from "../gateway/gateway-process.ts";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";

export const description =
  "the page over a session of 100,000 messages; goals: first paint ≤ 1 s, no long task while scrolling";

const USAGE = `Usage: pnpm bench page-scroll [options]

  --messages N     of the session (default: 100000)
  --browser FILE   a Chromium (default: /usr/bin/chromium)
  --check          exit 1 when a goal is missed; by the clock, so only on a machine that is idle
  --help           this text

The page that is built is measured: pnpm build first.
`;

const WINDOW = 1_000_000_000;
const [PAINT_MS, TASK_MS] = [1000, 50];
const STEPS = 150;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      messages: { type: "string", default: "100000" },
      browser: { type: "string", default: "/usr/bin/chromium" },
      check: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  process.stdout.write(`${formatMachine(describeMachine())}\n`);
  const figures = await measure(Number(values.messages), values.browser);
  for (const [name, value] of Object.entries(figures)) process.stdout.write(`${name}: ${value}\n`);
  const { firstPaintMs, longestTaskMs } = figures;
  return values.check && (firstPaintMs > PAINT_MS || longestTaskMs > TASK_MS) ? 1 : 0;
}

/** One call is made, so that there is one to inspect. */
async function measure(messages: number, executablePath: string) {
  const server = await createOpenAIEmulator({ answers: [{ text: "Noted." }] });
  const models = [{ id: "emulated", contextWindow: WINDOW }];
  const home = await newHome({
    agents: { defaults: { model: "emulated/emulated", contextTokens: WINDOW } },
    models: { providers: { emulated: { baseUrl: server.baseUrl, models } } },
  });
  await writeSession(home, messages);
  const gateway = await startGateway({ home });
  const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });
  try {
    const sent = await fetch(`${gateway.url}/api/sessions/main/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: "Are you there?" }),
    });
    await sent.text();
    return await measurePage(browser, gateway.url, messages);
  } finally {
    await browser.close();
    await gateway.stop();
    await server.close();
    await rm(home, { recursive: true, force: true });
  }
}

async function measurePage(browser: Browser, url: string, messages: number) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const begun = performance.now();
  await page.goto(`${url}/#main/calls`);
  await page.locator("#transcript .row").first().waitFor({ timeout: 120_000 });
  const rowsMs = performance.now() - begun;
  const firstPaintMs = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  );
  const tasks = await watchTasks(page);
  const most = await scroll(page);
  const durations = await tasks();
  return {
    ...{ messages, firstPaintMs: Math.round(firstPaintMs), rowsMs: Math.round(rowsMs) },
    longTasks: durations.length,
    longestTaskMs: Math.round(Math.max(0, ...durations)),
    mostRowsInThePage: most,
  };
}

/** Tasks of 50 ms and more, from now on. */
async function watchTasks(page: Page): Promise<() => Promise<number[]>> {
  await page.evaluate(() => {
    const seen: number[] = [];
    Object.assign(globalThis, { seen });
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) seen.push(duration);
    }).observe({ type: "longtask" } as never);
  });
  return () => page.evaluate(() => (globalThis as unknown as { seen: number[] }).seen);
}

/** By the wheel, then by jumps through the whole list; the most rows that were elements at once. */
async function scroll(page: Page): Promise<number> {
  await page.locator("#transcript").hover();
  let most = 0;
  for (let step = 0; step < STEPS; step++) {
    if (step < STEPS / 2) await page.mouse.wheel(0, step % 2 === 0 ? -900 : -300);
    else
      await page.locator("#transcript").evaluate(
        (list, at) => {
          list.scrollTop = list.scrollHeight * at;
        },
        (step * 0.37) % 1,
      );
    await page.waitForTimeout(30);
    most = Math.max(most, await page.locator("#transcript .row").count());
  }
  return most;
}
