// Serves the page at every address that is not the API's.
import type { Hono } from "hono";
import { PAGE_HEADERS, type PageFile } from "../page.ts";

export function addPageRoute(app: Hono, page: ReadonlyMap<string, PageFile>): void {
  app.get("*", (context) => {
    const file = page.get(context.req.path);
    if (file !== undefined)
      return context.body(file.bytes, 200, { ...PAGE_HEADERS, "content-type": file.type });
    if (context.req.path === "/")
      return context.text("Clew is running. The page is not built; the API is at /api/health.\n");
    return context.notFound();
  });
}
