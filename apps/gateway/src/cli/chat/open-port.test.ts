import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readEnvironment } from "../../config/environment.ts";
import { collectOutput } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { writePlugin } from "../../testing/plugins.ts";
import { openPort } from "./open-port.ts";

it("commands of plugins are completed beside those of every chat", async () => {
  const home = await temporaryHome();
  const code = `export default { id: "tide", register(api) {
    api.registerCommand({ name: "tide", description: "the tide", handler: () => ({ text: "low" }) });
  } };`;
  const folder = writePlugin(join(home, "tide"), { id: "tide", code });
  const settings = { gateway: { port: 0 }, plugins: { load: { paths: [folder] } } };
  await writeFile(join(home, "clew.json"), JSON.stringify(settings));
  const output = collectOutput();
  const environment = readEnvironment({ CLEW_HOME: home });
  const { port, commands } = await openPort({}, { environment, output }, output);
  try {
    const found = await commands();
    expect(found).toContainEqual({ text: "/tide", about: 'a command of plugin "tide"' });
    expect(found.map(({ text }) => text)).toEqual(expect.arrayContaining(["/status", "/edit"]));
  } finally {
    await port.close(output, new AbortController().signal);
  }
});
