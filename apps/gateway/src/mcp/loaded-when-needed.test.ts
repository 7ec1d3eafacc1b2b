import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startChild } from "../testing/child.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { scriptedSettings } from "../testing/mcp.ts";

const MAIN = new URL("../main.ts", import.meta.url);
const PACKAGE = "@modelcontextprotocol/";

/** Writes down what of the package is loaded, before anything else is. */
const WATCH = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from "node:module";
registerHooks({
  resolve(name, context, next) {
    if (name.startsWith("${PACKAGE}")) process.stderr.write("LOADS " + name + "\\n");
    return next(name, context);
  },
});`)}`;

/** What a command loads of it until it ends, or has said its first line. */
async function loadedBy(args: string[], servers: object, untilLine = false): Promise<string[]> {
  const home = await homeWithOwnPort();
  await writeFile(
    join(home, "clew.json"),
    JSON.stringify({ gateway: { port: 0 }, mcp: { servers } }),
  );
  const child = startChild(MAIN, args, {
    stderr: true,
    env: { CLEW_HOME: home, CLEW_DEMO: "off", NODE_OPTIONS: `--import=${WATCH}` },
  });
  if (untilLine) {
    await child.nextLine();
    child.process.kill("SIGTERM");
  }
  await child.exit;
  return child.errors().match(/^LOADS \S+$/gm) ?? [];
}

describe("the MCP packages", () => {
  it.each([
    [["--help"], false],
    [["mcp", "list"], false],
    [["start", "--port", "0", "--json"], true],
  ])("are not loaded by clew %j where no server is used", async (args, isRunning) => {
    const servers = isRunning ? {} : { scripted: scriptedSettings() };
    expect(await loadedBy(args, servers, isRunning)).toEqual([]);
  });

  it("are loaded by what connects to a server", async () => {
    const loaded = await loadedBy(["mcp", "status"], { scripted: scriptedSettings() });
    expect(loaded).toContain(`LOADS ${PACKAGE}client`);
    expect(loaded).not.toContain(`LOADS ${PACKAGE}server`);
  });
});
