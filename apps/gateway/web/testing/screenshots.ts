// Takes the pictures of the page that the guides show, from the demo session.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium, type Page } from "playwright-core";
import { BROWSER_FLAGS, BROWSERS, findBrowser } from "./find-browser.ts";

interface Picture {
  name: string;
  width: number;
  height: number;
  scheme: "light" | "dark";
  /** Behind the "#" of the demo's address. */
  place: string;
  /** What is done before. Absent: nothing. */
  prepare?: (page: Page) => Promise<void>;
}

const DEMO = encodeURIComponent("agent:demo:main");
const WIDE = { width: 1280, height: 800 };

const PICTURES: readonly Picture[] = [
  { name: "calls-light", ...WIDE, scheme: "light", place: "/calls/37.2" },
  {
    ...{ name: "what-if-dark", ...WIDE, scheme: "dark", place: "/calls/37.2?show=what-if" },
    async prepare(page) {
      await page.locator("select[name=engine]").selectOption("lossless");
      await page.getByRole("button", { name: "Play it" }).click();
      await page.getByText(/^lossless in a window of/).waitFor({ timeout: 180_000 });
    },
  },
  {
    ...{ name: "fact-light", ...WIDE, scheme: "light", place: "/calls/37.2" },
    async prepare(page) {
      await page.getByRole("searchbox").fill("behind the blue oilskin");
      await page.keyboard.press("Enter");
      await page
        .getByText(/^Gone in call/)
        .first()
        .waitFor();
    },
  },
  { name: "narrow-dark", width: 400, height: 760, scheme: "dark", place: "/calls/37.2" },
];

const root = join(import.meta.dirname, "../../../..");
const folder = join(root, "docs/images");
const program = join(root, "apps/gateway/dist/main.js");
const QUALITY = 82;

await takeAll();

async function takeAll(): Promise<void> {
  const executablePath = findBrowser();
  if (executablePath === undefined) throw new Error(`None of ${BROWSERS.join(", ")} is on PATH.`);
  const home = await mkdtemp(join(tmpdir(), "clew-pictures-"));
  const env = { ...process.env, CLEW_HOME: home };
  await once(spawn(process.execPath, [program, "demo", "make"], { env }), "exit");
  const gateway = spawn(process.execPath, [program, "start", "--port", "0"], { env });
  const browser = await chromium.launch({ executablePath, args: BROWSER_FLAGS });
  try {
    const url = await addressOf(gateway.stdout);
    await mkdir(folder, { recursive: true });
    for (const picture of PICTURES) {
      const { width, height, scheme } = picture;
      const context = await browser.newContext({
        ...{ viewport: { width, height }, colorScheme: scheme, reducedMotion: "reduce" },
      });
      const bytes = await take(await context.newPage(), url, picture);
      await context.close();
      await writeFile(join(folder, `${picture.name}.webp`), bytes);
      console.log(`${picture.name}.webp: ${Math.ceil(bytes.length / 1024)} KiB`);
    }
  } finally {
    await browser.close();
    gateway.kill("SIGTERM");
    await once(gateway, "exit");
    await rm(home, { recursive: true, force: true });
  }
}

async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
    if (address !== null) return address[0];
  }
  throw new Error("The gateway ended before it said where it is.");
}

async function take(page: Page, url: string, { place, prepare }: Picture): Promise<Buffer> {
  await page.goto(`${url}/#${DEMO}${place}`);
  await page.locator("#sent .row").first().waitFor({ timeout: 60_000 });
  await page.locator("#column-1 .row").first().waitFor({ state: "attached" });
  await prepare?.(page);
  // What moves has come to rest.
  await page.waitForTimeout(1000);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", {
    ...{ format: "webp", quality: QUALITY },
  });
  return Buffer.from(data, "base64");
}
