// The command `pnpm bench page-scroll` for how long the page takes over a very long session.
import { rm } from "node:fs/promises";
import { parseArgs } from "node:util";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { type Browser, chromium, type Page } from "playwright-core";
import {
  newHome,
  type RunningGateway,
  startGateway,
  writeSession,
} from "../gateway/gateway-process.ts";
import { writeLongSession } from "../inspect/long-session.ts";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";

export const description =
  "the page over sessions of 100,000 messages; goals: first paint and rows ≤ 1 s, no long task while scrolling";

const USAGE = `Usage: pnpm bench page-scroll [options]

  --messages N     of the session (default: 100000)
  --browser FILE   a Chromium (default: /usr/bin/chromium)
  --check          exit 1 when a goal is missed; by the clock, so only on a machine that is idle
  --help           this text

The page that is built is measured: pnpm build first. Two sessions are looked at: one whose only
call sends all messages, and one of as many with a call in every turn, of some hundred messages.
`;

const WINDOW = 1_000_000_000;
const [PAINT_MS, ROWS_MS, TASK_MS] = [1000, 1000, 50];
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
  const messages = Number(values.messages);
  let isMissed = false;
  for (const [kind, write] of Object.entries(KINDS)) {
    const figures = await measure(messages, write, values.browser);
    process.stdout.write(`\n${kind}\n`);
    for (const [name, value] of Object.entries(figures))
      process.stdout.write(`${name}: ${value}\n`);
    const { firstPaintMs, rowsMs, longestTaskMs } = figures;
    isMissed ||= firstPaintMs > PAINT_MS || rowsMs > ROWS_MS || longestTaskMs > TASK_MS;
  }
  return values.check && isMissed ? 1 : 0;
}

const KINDS = { "one call that sends all": writeSession, "a call in each turn": writeLongSession };

/** One call is made, so that there is one to inspect. */
async function measure(messages: number, write: typeof writeSession, executablePath: string) {
  const server = await createOpenAIEmulator({ answers: [{ text: "Noted." }] });
  const models = [{ id: "emulated", contextWindow: WINDOW }];
  const home = await newHome({
    agents: { defaults: { model: "emulated/emulated", contextTokens: WINDOW } },
    models: { providers: { emulated: { baseUrl: server.baseUrl, models } } },
  });
  await write(home, messages);
  let gateway = await startGateway({ home });
  const browser = await chromium.launch({ executablePath, args: ["--headless", "--no-sandbox"] });
  try {
    const sent = await fetch(`${gateway.url}/api/sessions/main/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text: "Are you there?" }),
    });
    await sent.text();
    const first = await measurePage(browser, gateway, messages);
    await gateway.stop();
    gateway = await startGateway({ home });
    const { page, figures } = await openPage(browser, gateway);
    await page.close();
    const again = Object.entries(figures).map(([name, value]) => [`${name}AfterAStart`, value]);
    return { ...first, ...Object.fromEntries(again) };
  } finally {
    await browser.close();
    await gateway.stop();
    await server.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Until the call that is shown first is there. */
async function openPage(browser: Browser, { url, processorMs }: RunningGateway) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const [begun, before] = [performance.now(), await processorMs()];
  await page.goto(`${url}/#main/calls`);
  await page.locator("#transcript .row").first().waitFor({ timeout: 120_000 });
  const rowsMs = performance.now() - begun;
  const firstPaintMs = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  );
  const serverRowsMs = (await processorMs()) - before;
  await page.locator("#sent .row").first().waitFor({ timeout: 120_000 });
  const figures = {
    ...{ firstPaintMs: Math.round(firstPaintMs), rowsMs: Math.round(rowsMs) },
    ...{ sentRowsMs: Math.round(performance.now() - begun), serverRowsMs },
    serverSentRowsMs: (await processorMs()) - before,
  };
  return { page, figures };
}

async function measurePage(browser: Browser, gateway: RunningGateway, messages: number) {
  const { page, figures } = await openPage(browser, gateway);
  const tasks = await watchTasks(page);
  const work = await traceTasks(page);
  const most = await scroll(page);
  const [durations, longestWorkMs] = [await tasks(), await work()];
  return {
    ...{ messages, ...figures },
    longTasks: durations.length,
    longestTaskMs: Math.round(Math.max(0, ...durations)),
    longestTaskOfProcessorMs: Math.round(longestWorkMs),
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

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds of the processor. Absent: it is no task. */
  tdur?: number;
}

/** What the page's longest task takes of a processor: the clock counts others' work, too. */
async function traceTasks(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page);
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => {
    for (const event of value) events.push(event as unknown as TraceEvent);
  });
  const categories = "-*,toplevel,devtools.timeline";
  await session.send("Tracing.start", { transferMode: "ReportEvents", categories });
  return async () => {
    const isOver = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
    await session.send("Tracing.end");
    await isOver;
    const thread = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`;
    const pages = new Set(events.filter(({ name }) => name === "FunctionCall").map(thread));
    const tasks = events.filter((each) => each.name.endsWith("RunTask") && pages.has(thread(each)));
    return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
  };
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
