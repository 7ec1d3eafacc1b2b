// Shows the built page in a real browser, for tests.
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { readEnvironment } from "../../src/config/environment.ts";
import { checkConfigText } from "../../src/config/load.ts";
import { createGateway } from "../../src/create-gateway.ts";
import { createIdentity } from "../../src/home/identity.ts";
import { loadPage } from "../../src/http/page.ts";
import { startServer } from "../../src/http/server.ts";
import { createLog } from "../../src/log/log.ts";
import { startPlugins } from "../../src/plugins/start.ts";
import { temporaryHome } from "../../src/testing/home.ts";
import { BROWSER_FLAGS, BROWSERS, findBrowser } from "./find-browser.ts";

/** The tests' global setup sees to it that it is current. */
const BUILT_PAGE = join(import.meta.dirname, "../../dist/web");

/** Absent: the tests of pages are skipped, which is said. */
const executablePath = findBrowser();
if (executablePath === undefined)
  console.log(`No ${BROWSERS.join(", ")} on PATH: the page's browser test is skipped.`);

export const hasBrowser = executablePath !== undefined;

export interface OpenedPage {
  page: Page;
  /** What the page wrote to the console as errors. */
  errors: string[];
  /** Addresses asked for that are not the gateway's. */
  foreign: string[];
}

/** A browser for all tests of a group. */
export function usePages() {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: executablePath ?? "", args: BROWSER_FLAGS });
  });
  afterAll(() => browser?.close());
  return {
    /** In a browser context of its own; `url` may name a place on the page. */
    async openPage(url: string, options: BrowserContextOptions = {}): Promise<OpenedPage> {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        ...options,
      });
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const errors: string[] = [];
      const foreign: string[] = [];
      const { origin } = new URL(url);
      page.on(
        "console",
        (message) =>
          void (
            message.type() === "error" &&
            errors.push(`${message.text()} ${message.location().url}`.trim())
          ),
      );
      page.on("pageerror", (error) => void errors.push(error.message));
      page.on(
        "request",
        (request) => void (request.url().startsWith(`${origin}/`) || foreign.push(request.url())),
      );
      await page.goto(url);
      await page.locator(".app").waitFor();
      return { page, errors, foreign };
    },
  };
}

export interface GatewaySettings {
  /** Absent: what an empty clew.json means. */
  config?: Record<string, unknown>;
  /** Absent: an empty one. */
  home?: string;
  /** Absent: any free one. */
  port?: number;
}

/** Stopped when the test has ended. */
export async function startPageGateway({ config = {}, home, port = 0 }: GatewaySettings = {}) {
  const folder = home ?? (await temporaryHome());
  const environment = readEnvironment({ CLEW_HOME: folder });
  const log = createLog({ file: join(folder, "logs/gateway.log") });
  const loaded = checkConfigText(JSON.stringify(config), "clew.json");
  const plugins = await startPlugins({ environment, loaded, log });
  const gateway = createGateway({ environment, loaded, log, plugins });
  const identity = createIdentity(folder);
  const page = loadPage(BUILT_PAGE);
  const server = await startServer({
    ...{ gateway, log, page, version: "0.0.0", identity, port, environment },
  });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= gateway
      .close()
      .then(() => server.close())
      .then(() => log.close());
    return stopped;
  };
  onTestFinished(stop);
  const { url, link } = server;
  return { url, port: server.port, home: folder, gateway, stop, link };
}

/** Sends a message in the session shown and waits for the end of the reply. */
export async function say(page: Page, text: string): Promise<void> {
  await page.getByLabel("Message").fill(text);
  await page.keyboard.press("Enter");
  await page.locator(".person", { hasText: text }).waitFor();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
}

/** What would keep people out who cannot see or point, "rule: element"; [] = nothing found. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await checker.run(document);
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`),
    );
  });
}
