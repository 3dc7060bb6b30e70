import { bareNpm } from "../../src/code/npm-command.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fetchPackage } from "../../src/registry/fetch-registry.ts";
import { FetchedFolders } from "../../src/registry/fetched-folders.ts";
import { silentLog } from "../../src/system/log.ts";

/** Components of other authors, fetched once without dependencies. */
const PACKAGES: Readonly<Record<string, string>> = {
  aws: "1.1.1",
  docusign: "0.2.2",
  gitlab: "0.5.6",
  google_drive: "1.4.1",
  helper_functions: "0.3.13",
  linear_app: "0.8.1",
  microsoft_outlook: "1.7.5",
  monday: "0.7.0",
  mysql: "2.5.0",
  notion: "1.0.6",
  pipedream: "0.4.2",
  postgresql: "2.2.4",
  procore: "0.1.0",
  sftp: "0.5.1",
  shopify: "1.0.1",
  slack: "0.10.3",
  youtube_data_api: "1.0.1",
};

/** Laid out as a registry: `<app>/sources|actions/…`. */
export const PUBLISHED = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "published", Object.values(PACKAGES).join("-"));

export function published(path: string): string {
  return join(PUBLISHED, path);
}

export async function fetchPublished(): Promise<void> {
  const folders = await FetchedFolders.open(PUBLISHED, silentLog);
  const { signal } = new AbortController();
  for (const [app, version] of Object.entries(PACKAGES)) {
    if (existsSync(published(app))) continue;
    const name = `@pipedream/${app}@${version}`;
    if (!(await folders.replace(published(app), (partial) => fetchPackage(name, partial, { npm: bareNpm, signal }))))
      throw new Error(`the package registry has no ${name}`);
  }
}
