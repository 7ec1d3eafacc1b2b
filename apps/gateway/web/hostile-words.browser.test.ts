// Words of people, models, tools and other programs that would like to be more than words.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../src/testing/home.ts";
import { hasBrowser, startPageGateway, usePages } from "./testing/browser.ts";

const ELSEWHERE = "https://elsewhere.example";
const PAYLOADS = [
  "<script>window.owned = 1</script>",
  "<img src=x onerror=window.owned=2>",
  `<img src=${ELSEWHERE}/p.png>`,
  "<svg onload=window.owned=3></svg>",
  `<iframe src=${ELSEWHERE}></iframe>`,
  "<iframe srcdoc='<script>top.owned=4</script>'></iframe>",
  "[a link](javascript:window.owned=5)",
  "[a link](data:text/html,<script>window.owned=6</script>)",
  `![a picture](${ELSEWHERE}/p.png "x\\" onerror=window.owned=7")`,
  `</pre></code></div><form action=${ELSEWHERE}><button>Go</button></form>`,
  `<a href="${ELSEWHERE}" onmouseover="window.owned=8">here</a>`,
  "```html\n<script>window.owned = 9</script>\n```\n`<img src=x onerror=window.owned=10>`",
  `"><style>@import url(${ELSEWHERE}/s.css);*{display:none}</style>{{constructor.constructor("window.owned=11")()}}`,
];

/** Entries in which a payload stands in each place that the page shows. */
function entriesWith(payload: string, at: number): object[] {
  const call = { type: "toolCall", id: `c${at}`, name: payload, arguments: { [payload]: payload } };
  const messages = [
    { role: "user", content: payload },
    {
      role: "assistant",
      content: [{ type: "thinking", thinking: payload }, { type: "text", text: payload }, call],
    },
    {
      role: "toolResult",
      toolCallId: `c${at}`,
      toolName: payload,
      content: [{ type: "text", text: payload }],
    },
  ];
  return messages.map((message, index) => ({
    ...{ type: "message", id: `e${at}-${index}` },
    parentId: index > 0 ? `e${at}-${index - 1}` : at > 0 ? `e${at - 1}-2` : null,
    ...{ timestamp: "2026-01-01T00:00:00.000Z", message },
  }));
}

describe.skipIf(!hasBrowser)("words that would be more than words", () => {
  const { openPage } = usePages();

  it("are shown as words, whoever says them: 13 of them in five places", async () => {
    const home = await temporaryHome();
    const folder = join(home, "agents/main/sessions");
    await mkdir(folder, { recursive: true });
    const entries = PAYLOADS.flatMap(entriesWith);
    const write = (id: string, key: string, lines: object[]) => {
      const header = {
        ...{ type: "session", version: 3, id, timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" },
        sessionKey: key,
      };
      const text = [header, ...lines].map((line) => JSON.stringify(line)).join("\n");
      return writeFile(join(folder, `${id}.jsonl`), `${text}\n`);
    };
    await write("00000000-0000-4000-8000-000000000000", "agent:main:main", entries);
    for (const [at, payload] of PAYLOADS.entries())
      await write(
        `00000000-0000-4000-8000-0000000000${at + 10}`,
        `agent:main:${payload}`,
        entriesWith(payload, 0),
      );
    const { url } = await startPageGateway({ home });
    const { page, foreign } = await openPage(url);
    page.on("dialog", (dialog) => void dialog.dismiss());
    await page
      .locator(".person")
      .nth(PAYLOADS.length - 1)
      .waitFor();
    for (const opener of await page.locator(".column details, details").all())
      await opener.evaluate((element) => element.setAttribute("open", ""));
    const inside =
      ".app img, .app script, .app iframe, .app form[action], .app style, .app svg[onload]";
    expect(await page.locator(inside).count()).toBe(0);
    expect(await page.locator("[href^='javascript'], [href^='data:']").count()).toBe(0);
    expect(await page.evaluate(() => (globalThis as { owned?: number }).owned)).toBeUndefined();
    expect(foreign).toEqual([]);
    const text = await page.locator(".app").textContent();
    expect(text).toContain("<svg onload=window.owned=3></svg>");
    expect(text).toContain("<iframe src=");
  });
});
