// Counts the words that people say, and tells the number wherever somebody may ask.
import { definePluginEntry } from "@clew/plugin-sdk/core";

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;
let words = 0;

export default definePluginEntry({
  id: "tally",
  name: "Tally",
  register(api) {
    api.on("message_received", ({ content }) => {
      words += wordsIn(content);
    });
    api.registerService({
      id: "tally",
      start: ({ logger }) => logger.info("counting words"),
      stop: ({ logger }) => logger.info(`${words} words in all`),
    });
    api.registerHttpRoute({
      path: "/plugins/tally",
      auth: "plugin",
      handler(_request, response) {
        response.setHeader("content-type", "text/plain");
        response.end(`${words} words\n`);
      },
    });
    api.registerGatewayMethod("tally.words", ({ respond }) => respond(true, { words }));
    api.registerCli(
      ({ program }) => {
        program
          .command("tally")
          .argument("<text>")
          .action((text) => console.log(wordsIn(String(text))));
      },
      { descriptors: [{ name: "tally", description: "counts the words of a text" }] },
    );
  },
});
