/** Simplified Chinese texts for passkeys. */
import type { Entry } from "../index.svelte.ts";
import type { passkeys as en } from "../en/passkeys.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "通行密钥",
  "passkeys.intro":
    "使用指纹、面容或设备 PIN 登录，代替密码和验证码。通行密钥无法被猜中或钓鱼窃取。密码仍可使用。",
  "passkeys.name": "名称",
  "passkeys.nameHint": "例如：手机、安全密钥",
  "passkeys.make": "添加通行密钥",
  "passkeys.makeText": "请先确认密码。随后浏览器会询问通行密钥的保存位置。",
  "passkeys.made": "通行密钥已添加，现在可以用它登录。",
  "passkeys.madeAt": "{date} 为 {host} 创建",
  "passkeys.used": "上次使用 {date}",
  "passkeys.unused": "从未使用",
  "passkeys.copied": "此通行密钥可能被克隆，已停用。请移除。",
  "passkeys.remove": "移除通行密钥",
  "passkeys.removeConfirm": "移除“{name}”？之后将无法用它登录。请在设备上也将其删除，否则设备仍会提示使用。",
  "passkeys.known": "此设备上已有你在此服务器的通行密钥。",
  "passkeys.notMade": "未添加通行密钥：已取消、超时或此设备不支持。",
  "passkeys.notHere": "通行密钥需要支持的浏览器，以及带主机名的 HTTPS 或 localhost。",
  "passkeys.logIn": "使用通行密钥登录",
  "passkeys.notUsed": "未使用通行密钥：已取消、超时或不在此设备上。",
  "passkeys.wrong": "此通行密钥在此处已失效。请用密码登录并检查通行密钥。",
  "passkeys.has": "通行密钥",
  "passkeys.removeShort": "移除通行密钥",
  "passkeys.removeOfConfirm": "之后 {name} 可以用密码登录并添加新的通行密钥。{name} 的所有会话将结束。",
};
