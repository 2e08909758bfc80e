# hawse's shell integration for zsh: reports the directory (OSC 7) and the commands (OSC 133, 633;E).
# zsh was started with ZDOTDIR pointing here. Point it back at once, so that it reads the user's own files and no others.

if [[ -n ${HAWSE_ZDOTDIR+x} ]]; then
    export ZDOTDIR=$HAWSE_ZDOTDIR
    unset HAWSE_ZDOTDIR
else
    unset ZDOTDIR
fi
if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
    source "${ZDOTDIR:-$HOME}/.zshenv"
fi

if [[ -o interactive && -z ${__hawse_ran+x} ]]; then
    typeset -g __hawse_ran=0
    typeset -ag precmd_functions preexec_functions

    __hawse_escape() {
        emulate -L zsh
        local text=${1[1,4096]}
        text=${text//\\/\\\\} text=${text//;/\\x3b} text=${text//$'\n'/\\x0a} text=${text//$'\t'/\\x09}
        REPLY=${text//[[:cntrl:]]/}
    }

    __hawse_begin() {
        local REPLY
        __hawse_escape "${1:-$3}"
        builtin printf '\e]633;E;%s\a\e]133;C\a' "$REPLY"
        __hawse_ran=1
    }

    # Where we are, as an escape sequence in REPLY.
    __hawse_cwd() {
        emulate -L zsh -o no_multibyte
        local LC_ALL=C char safe=
        local -i i
        for (( i = 1; i <= ${#PWD}; i++ )); do
            char=$PWD[i]
            [[ $char == [A-Za-z0-9/._~-] ]] || builtin printf -v char '%%%02X' $(( #char ))
            safe+=$char
        done
        REPLY=$'\e]7;file://'$HOST$safe$'\a'
    }

    # The first hook: the end of a command, and in the same breath where it has led.
    __hawse_end() {
        local code=$? REPLY
        __hawse_cwd
        if (( __hawse_ran )); then
            REPLY=$'\e]133;D;'$code$'\a'$REPLY
            __hawse_ran=0
        fi
        builtin printf '%s' "$REPLY"
    }

    # The last hook: others may have made a new prompt.
    __hawse_prompt() {
        if [[ $PS1 != *'133;A'* ]]; then
            PS1=$'%{\e]133;A\a%}'$PS1$'%{\e]133;B\a%}'
        fi
    }

    # Before the first prompt, when the user's files have been read.
    __hawse_install() {
        precmd_functions=(__hawse_end ${precmd_functions:#__hawse_install} __hawse_prompt)
        preexec_functions=($preexec_functions __hawse_begin)
        __hawse_end
        __hawse_prompt
    }
    precmd_functions+=(__hawse_install)
fi
