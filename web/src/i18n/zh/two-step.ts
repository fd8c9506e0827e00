/** Simplified Chinese texts for two-step sign-in. */
import type { Entry } from "../index.svelte.ts";
import type { twoStep as en } from "../en/two-step.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "两步验证",
  "twoStep.intro":
    "输入密码后，还需输入身份验证器应用（如 Aegis、Google Authenticator 或 1Password）中的验证码。即使密码泄露，他人也无法登录。API 密钥不受影响。",
  "twoStep.begin": "设置",
  "twoStep.beginText": "需要一部装有身份验证器应用的手机。请先确认密码：",
  "twoStep.next": "继续",
  "twoStep.scan": "用该应用扫描，然后输入其显示的验证码。",
  "twoStep.qr": "供应用扫描的二维码",
  "twoStep.type": "或在应用中输入：",
  "twoStep.code": "应用中的验证码",
  "twoStep.codeHint": "六位数字",
  "twoStep.wrong": "验证码错误。请等待下一个验证码，并检查手机时间是否准确。",
  "twoStep.turnOn": "开启",
  "twoStep.onSince": "自 {date} 起开启。",
  "twoStep.left": { other: "剩余 {count} 个恢复码。" },
  "twoStep.renew": "新恢复码",
  "twoStep.renewText": "将生成十个新恢复码，旧的会失效。",
  "twoStep.end": "关闭两步验证",
  "twoStep.endText": "之后仅凭密码登录。应用验证码和恢复码将失效。",
  "twoStep.isOff": "两步验证已关闭。",
  "twoStep.noPassword": "你通过提供商登录，在此处没有密码。请在提供商处设置第二步验证。",
  "twoStep.recoveryText":
    "两步验证已开启。请将这些恢复码保存在没有手机也能取得的地方：每个可代替应用验证码使用一次。它们只显示这一次。",
  "twoStep.copyCodes": "全部复制",
  "twoStep.kept": "我已保存",
  "twoStep.enter": "还差一步",
  "twoStep.recoveryCode": "恢复码",
  "twoStep.recoveryCodeHint": "十六位字母和数字，每个可用一次",
  "twoStep.submit": "继续",
  "twoStep.used": "验证码错误或已使用。",
  "twoStep.lost": "使用恢复码",
  "twoStep.useApp": "使用应用",
  "twoStep.startOver": "重新开始",
  "twoStep.has": "两步验证",
  "twoStep.endOfConfirm":
    "之后 {name} 仅凭密码即可登录。请确认提出请求的确实是 {name} 本人。{name} 的所有会话将结束。",
};
