/** An SMTP server that keeps the mails it gets and refuses recipients that begin with `refused`. */
import { createServer } from "node:net";

export async function startSmtp() {
  const mails = [];
  const server = createServer((socket) => serve(socket, mails));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    address: `127.0.0.1:${server.address().port}`,
    /** Each has `login`, `from`, `to` and `text`, the headers with the body. */
    mails,
    stop: () => new Promise((stopped) => server.close(stopped)),
  };
}

function serve(socket, mails) {
  let mail = { text: "" };
  let isData = false;
  let rest = "";
  const answers = {
    EHLO: () => "250-smtp.example.org\r\n250 AUTH PLAIN",
    AUTH: (line) => {
      mail.login = Buffer.from(line.split(" ")[2], "base64").toString().split("\0").slice(1);
      return "235 welcome";
    },
    MAIL: (line) => {
      mail = { login: mail.login, from: addressIn(line), text: "" };
      return "250 ok";
    },
    RCPT: (line) => {
      mail.to = addressIn(line);
      return mail.to.startsWith("refused") ? "550 no such person" : "250 ok";
    },
    DATA: () => {
      isData = true;
      return "354 go on";
    },
    QUIT: () => "221 bye",
  };
  const answerTo = (line) => {
    if (!isData) return (answers[line.split(" ")[0]] ?? (() => "250 ok"))(line);
    isData = line !== ".";
    if (isData) mail.text += `${line}\n`;
    else mails.push(mail);
    return isData ? null : "250 accepted";
  };
  socket.on("error", () => {});
  socket.on("data", (data) => {
    const lines = (rest + data).split("\r\n");
    rest = lines.pop();
    for (const answer of lines.map(answerTo)) if (answer !== null) socket.write(`${answer}\r\n`);
  });
  socket.write("220 ready\r\n");
}

const addressIn = (line) => /<(.*)>/.exec(line)[1];

/** The body of a mail, whichever transfer encoding it has. */
export function bodyOf({ text }) {
  const [head, ...body] = text.split("\n\n");
  const encoded = body.join("\n\n");
  if (/^Content-Transfer-Encoding: base64/im.test(head)) return Buffer.from(encoded, "base64").toString();
  const bytes = encoded
    .replace(/=\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return /quoted-printable/i.test(head) ? Buffer.from(bytes, "latin1").toString() : encoded;
}
