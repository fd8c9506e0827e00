/** A real nginx before servers of which each is below a path of the host. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "./browser.mjs";
import { needed } from "./programs.mjs";

const locationOf = ({ path, port, strips }) => `
  location ${path}/ {
    proxy_pass http://127.0.0.1:${port}${strips ? "/" : ""};
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $connection_upgrade;
    proxy_buffering off;
  }`;

/** Starts it on `port`. It keeps the path of each location in what it passes on, or strips it. */
export async function startNginx(port, locations) {
  const folder = await mkdtemp(join(tmpdir(), "glasshouse-nginx-"));
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const config = `daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr error;
${process.getuid?.() === 0 ? "user root;" : ""}
events {}
http {
  access_log off;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  server {
    listen 127.0.0.1:${port};
    location / { return 404 "nothing of ours"; }
    ${locations.map(locationOf).join("\n")}
  }
}`;
  await writeFile(join(folder, "nginx.conf"), config);
  const child = spawn(needed("NGINX_BIN"), ["-p", folder, "-e", "stderr", "-c", join(folder, "nginx.conf")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const url = `http://localhost:${port}`;
  await until("nginx answers", () => fetch(url).then(Boolean, () => child.exitCode !== null));
  if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
  return {
    url,
    async stop() {
      child.kill("SIGQUIT");
      if (child.exitCode === null) await once(child, "exit");
      await rm(folder, { recursive: true });
    },
  };
}
