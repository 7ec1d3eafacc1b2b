// How long a gateway takes to answer, and how much memory it holds then.
import { defineBench } from "../runner/bench.ts";
import { newHome, startGateway } from "./gateway-process.ts";

const MB = 2 ** 20;

export default defineBench({
  name: "gateway-start",
  description: "process started to address printed and health answered; goals: 1 s, 150 MB",
  cases: [
    {
      name: "start",
      async prepare() {
        const home = await newHome();
        let rssMB = 0;
        return {
          async run() {
            const gateway = await startGateway({ home });
            await (await fetch(`${gateway.url}/api/health`)).json();
            rssMB = (await gateway.rss()) / MB;
            await gateway.stop();
          },
          facts: () => ({ rssMB: Math.round(rssMB) }),
        };
      },
    },
  ],
});
